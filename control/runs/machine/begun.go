package machine

// Begun lists the beginnings of the open runs that are reported: a recorder that has
// not heard of a run takes nothing of it.
func (s *State) Begun() []Change {
	st := &step{State: s}
	for _, r := range s.ordered() {
		if r.Announced {
			again := *r
			again.Announced = false
			st.announce(&again)
		}
	}
	return st.out
}
