package regex

// step does one instruction. It gives where to go on, or false for a failure; a
// negative place is the end of a match.
func (m *matcher) step(i *inst, pc, at int) (int, int, bool) {
	switch i.op {
	case opChar, opSet:
		next, ok := m.one(i, at)
		return pc + 1, next, ok
	case opSplit:
		m.trail = append(m.trail, trail{kind: tryAgain, at: i.x, position: at})
		return pc + 1, at, true
	case opJump:
		return i.x, at, true
	case opSave:
		m.setSlot(i.x, at)
		return pc + 1, at, true
	case opAssert:
		return pc + 1, at, m.holds(i, at)
	case opRef:
		next, ok := m.again(i, at)
		return pc + 1, next, ok
	case opLook:
		return i.x, at, m.looks(i, pc+1, at)
	case opMatch:
		return -1, at, true
	case opRun:
		return m.runOf(i.loop, pc, at)
	}
	return m.loop(i, pc, at)
}

// one matches the character of an instruction.
func (m *matcher) one(i *inst, at int) (int, bool) {
	var c rune
	if m.inPair(at) {
		return at, false
	}
	if i.back {
		if at == 0 {
			return at, false
		}
		c, at = m.previous(at)
	} else {
		if at == m.length {
			return at, false
		}
		c, at = m.next(at)
	}
	switch {
	case i.op == opSet:
		return at, i.chars.has(c)
	case i.fold:
		return at, canonical(c, m.wide) == rune(i.x)
	}
	return at, c == rune(i.x)
}

// runOf repeats the one character that the next instruction matches. A greedy run
// may be shortened later, a lazy one lengthened.
func (m *matcher) runOf(l *loop, pc, at int) (int, int, bool) {
	i := &m.re.code[pc+1]
	count := 0
	for ; count < l.min; count++ {
		next, ok := m.one(i, at)
		if !ok {
			return 0, 0, false
		}
		at = next
	}
	if !l.greedy {
		m.trail = append(m.trail, trail{kind: lengthenRun, at: l.exit, position: at, limit: l.max - count})
		return l.exit, at, true
	}
	least := at
	for ; count < l.max; count++ {
		next, ok := m.one(i, at)
		if !ok || count%stopEvery == stopEvery-1 && m.checkStop() {
			break
		}
		at = next
	}
	if at > least {
		m.trail = append(m.trail, trail{kind: shortenRun, at: l.exit, position: at, limit: least})
	}
	return l.exit, at, true
}

// loop does the instructions of a repeat. A round beyond the least that matches
// nothing fails, as the specification's RepeatMatcher says.
func (m *matcher) loop(i *inst, pc, at int) (int, int, bool) {
	l := i.loop
	count := m.registers[l.register]
	switch i.op {
	case opStart:
		m.setRegister(l.register, 0)
		return pc + 1, at, true
	case opEnter:
		if m.checkStop() { // rounds that match nothing never fail
			return 0, 0, false
		}
		m.setRegister(l.register+1, at)
		for group := l.first; group < l.last; group++ {
			if m.slots[2*group] >= 0 || m.slots[2*group+1] >= 0 {
				m.setSlot(2*group, -1)
				m.setSlot(2*group+1, -1)
			}
		}
		return pc + 1, at, true
	case opNext:
		if count >= l.min && at == m.registers[l.register+1] {
			return 0, 0, false
		}
		m.setRegister(l.register, count+1)
		return i.x, at, true
	}
	switch {
	case count < l.min:
		return pc + 1, at, true
	case count >= l.max:
		return l.exit, at, true
	case l.greedy:
		m.trail = append(m.trail, trail{kind: tryAgain, at: l.exit, position: at})
		return pc + 1, at, true
	}
	m.trail = append(m.trail, trail{kind: tryAgain, at: pc + 1, position: at})
	return l.exit, at, true
}

// looks tells whether a look holds. What a positive one captured stays, and is
// undone with the rest; its choices are not taken up again.
func (m *matcher) looks(i *inst, pc, at int) bool {
	base := len(m.trail)
	matched := m.run(pc, at)
	if i.negative {
		for len(m.trail) > base {
			t := m.trail[len(m.trail)-1]
			switch t.kind {
			case restoreSlot:
				m.slots[t.at] = t.position
			case restoreRegister:
				m.registers[t.at] = t.position
			}
			m.trail = m.trail[:len(m.trail)-1]
		}
		return !matched && !m.stopped
	}
	kept := m.trail[:base]
	for _, t := range m.trail[base:] {
		if t.kind == restoreSlot || t.kind == restoreRegister {
			kept = append(kept, t)
		}
	}
	m.trail = kept
	return matched
}

func (m *matcher) holds(i *inst, at int) bool {
	switch assertionKind(i.x) {
	case inputStart:
		return at == 0
	case inputEnd:
		return at == m.length
	case lineStart:
		return at == 0 || lineEnds.has(m.in.at(at-1))
	case lineEnd:
		return at == m.length || lineEnds.has(m.in.at(at))
	case wordBoundary:
		return m.word(at-1, i.fold) != m.word(at, i.fold)
	}
	return m.word(at-1, i.fold) == m.word(at, i.fold)
}

func (m *matcher) word(at int, fold bool) bool {
	if at < 0 || at >= m.length {
		return false
	}
	if fold && m.wide {
		return foldedWords.has(m.in.at(at))
	}
	return words.has(m.in.at(at))
}

// again matches what a group matched; a group that did not take part matches
// nothing, and succeeds.
func (m *matcher) again(i *inst, at int) (int, bool) {
	for _, number := range i.numbers {
		start, end := m.slots[2*number], m.slots[2*number+1]
		if start < 0 || end < 0 {
			continue
		}
		if i.back {
			if at -= end - start; at < 0 {
				return 0, false
			}
			return at, m.same(start, end, at, i.fold)
		}
		if at+end-start > m.length {
			return 0, false
		}
		return at + end - start, m.same(start, end, at, i.fold)
	}
	return at, true
}

func (m *matcher) same(start, end, at int, fold bool) bool {
	for start < end {
		a, next := m.next(start)
		b, nextAt := m.next(at)
		if a != b && (!fold || canonical(a, m.wide) != canonical(b, m.wide)) {
			return false
		}
		start, at = next, nextAt
	}
	return true
}
