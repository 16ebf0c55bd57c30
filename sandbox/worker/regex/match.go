package regex

// Input is the text to match: ASCII text is looked at without a copy.
type Input struct {
	ASCII string
	Wide  []uint16 // used when it is not nil
}

// Length is in UTF-16 units.
func (in *Input) Length() int {
	if in.Wide != nil {
		return len(in.Wide)
	}
	return len(in.ASCII)
}

func (in *Input) at(i int) rune {
	if in.Wide != nil {
		return rune(in.Wide[i])
	}
	return rune(in.ASCII[i])
}

// trail is one entry of what a failure undoes: a slot or register to restore, a
// place to go on at, or a run to shorten or lengthen.
type trail struct {
	kind     trailKind
	at       int // the slot, or the place in the code
	position int // to restore, or to go on at
	limit    int // of a run
}

type trailKind uint8

const (
	tryAgain trailKind = iota
	restoreSlot
	restoreRegister
	shortenRun
	lengthenRun
)

// stopEvery is how many steps go by between two looks at whether to stop.
const stopEvery = 1 << 12

type matcher struct {
	re        *Regex
	in        Input
	length    int
	wide      bool
	slots     []int
	registers []int
	trail     []trail
	steps     int
	stop      func() bool
	stopped   bool
}

// Match finds the first match at or behind from, or exactly there when anchored.
// It gives the slots of all groups, two each, -1 for what did not take part, or
// nil. It asks stop now and then and gives nil once that says true.
func (re *Regex) Match(in Input, from int, anchored bool, stop func() bool) []int {
	m := &matcher{re: re, in: in, length: in.Length(), wide: re.Flags.CodePoints(), stop: stop}
	m.slots = make([]int, 2*(re.Count+1))
	m.registers = make([]int, re.registers)
	for at := from; at <= m.length; at = m.after(at) {
		if re.begins != nil && !anchored {
			for at < m.length && !re.begins.has(m.in.at(at)) {
				at++
			}
			if at == m.length {
				return nil
			}
		}
		for i := range m.slots {
			m.slots[i] = -1
		}
		m.trail = m.trail[:0]
		if m.run(0, at) {
			return m.slots
		}
		if anchored || m.stopped || m.checkStop() {
			return nil
		}
	}
	return nil
}

// first is what a match must begin with, if the code says so at once and in
// ASCII or plain units.
func (re *Regex) first() *chars {
	if re.Flags.CodePoints() {
		return nil
	}
	i := re.code[1]
	if i.op == opRun && i.loop.min > 0 {
		i = re.code[2]
	}
	switch {
	case i.op == opSet:
		return i.chars
	case i.op == opChar && !i.fold && i.x < 128:
		c := &chars{set: spans()}
		c.ascii[i.x/64] = 1 << (i.x % 64)
		return c
	}
	return nil
}

// after is the next place to try. With code points none lies inside a pair, but that
// V8 looks there for a match of nothing unless the pattern is global or sticky.
func (m *matcher) after(at int) int {
	if m.wide && at < m.length && (m.re.Flags.Global || m.re.Flags.Sticky) {
		_, next := m.next(at)
		return next
	}
	return at + 1
}

// inPair tells of a place inside a pair, where no character begins or ends.
func (m *matcher) inPair(at int) bool {
	if !m.wide || at == 0 || at >= m.length {
		return false
	}
	high, low := m.in.at(at-1), m.in.at(at)
	return high >= 0xD800 && high < 0xDC00 && low >= 0xDC00 && low < 0xE000
}

// next reads the character at a position and gives the position behind it.
func (m *matcher) next(at int) (rune, int) {
	c := m.in.at(at)
	if m.wide && c >= 0xD800 && c < 0xDC00 && at+1 < m.length {
		if low := m.in.at(at + 1); low >= 0xDC00 && low < 0xE000 {
			return (c-0xD800)<<10 + low - 0xDC00 + 0x10000, at + 2
		}
	}
	return c, at + 1
}

// previous reads the character before a position and gives the one it starts at.
func (m *matcher) previous(at int) (rune, int) {
	c := m.in.at(at - 1)
	if m.wide && c >= 0xDC00 && c < 0xE000 && at >= 2 {
		if high := m.in.at(at - 2); high >= 0xD800 && high < 0xDC00 {
			return (high-0xD800)<<10 + c - 0xDC00 + 0x10000, at - 2
		}
	}
	return c, at - 1
}

func (m *matcher) checkStop() bool {
	if m.steps++; m.steps%stopEvery == 0 && m.stop() {
		m.stopped = true
	}
	return m.stopped
}

func (m *matcher) setSlot(i, value int) {
	m.trail = append(m.trail, trail{kind: restoreSlot, at: i, position: m.slots[i]})
	m.slots[i] = value
}

func (m *matcher) setRegister(i, value int) {
	m.trail = append(m.trail, trail{kind: restoreRegister, at: i, position: m.registers[i]})
	m.registers[i] = value
}

// backtrack undoes up to the last choice above base and gives where to go on.
func (m *matcher) backtrack(base int) (pc, at int, ok bool) {
	for len(m.trail) > base {
		t := &m.trail[len(m.trail)-1]
		switch t.kind {
		case restoreSlot:
			m.slots[t.at] = t.position
		case restoreRegister:
			m.registers[t.at] = t.position
		case tryAgain:
			pc, at = t.at, t.position
			m.trail = m.trail[:len(m.trail)-1]
			return pc, at, true
		default:
			if pc, at, ok = m.otherRun(t); ok {
				return pc, at, true
			}
		}
		m.trail = m.trail[:len(m.trail)-1]
	}
	return 0, 0, false
}

// otherRun gives a run of one character fewer, or of one more. Its entry stays on
// the trail until there is none.
func (m *matcher) otherRun(t *trail) (pc, at int, ok bool) {
	if t.kind == shortenRun {
		if t.position <= t.limit {
			return 0, 0, false
		}
		_, t.position = m.previous(t.position)
		return t.at, t.position, true
	}
	if t.limit == 0 || t.position == m.length {
		return 0, 0, false
	}
	next, ok := m.one(&m.re.code[t.at-1], t.position)
	if !ok {
		return 0, 0, false
	}
	t.position = next
	t.limit--
	return t.at, next, true
}

// run runs code from pc until it matches, or until nothing is left to try.
func (m *matcher) run(pc, at int) bool {
	base := len(m.trail)
	for {
		next, position, ok := m.step(&m.re.code[pc], pc, at)
		if next < 0 {
			return true
		}
		if !ok {
			if m.checkStop() {
				return false
			}
			if next, position, ok = m.backtrack(base); !ok {
				return false
			}
		}
		pc, at = next, position
	}
}
