package spool

// syncDir does nothing: Windows journals names itself and syncs no folders.
func syncDir(string) {}
