package control

// pending is not known there: what comes at the very end is refused.
func pending(any) bool { return false }
