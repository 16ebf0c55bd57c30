package sandbox

// TakeSlot takes a slot of a pool as an evaluation does.
func TakeSlot(p *Pool) (leave func()) {
	p.slots <- struct{}{}
	return func() { <-p.slots }
}

// IdlePIDs are the processes of a pool's idle workers.
func IdlePIDs(p *Pool) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pids []int
	for _, workers := range p.idle {
		for _, w := range workers {
			pids = append(pids, w.cmd.Process.Pid)
		}
	}
	return pids
}
