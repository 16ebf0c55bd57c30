package regex

// op is what an instruction does. Those that read a character read the one behind
// the position when their instruction says back, as look-behind does.
type op uint8

const (
	opChar   op = iota // the character x
	opSet              // a character of the class
	opSplit            // go on at the next; when that fails, at x
	opJump             // go on at x
	opSave             // remember the position in slot x
	opAssert           // hold the assertion of kind x
	opRef              // match what one of the groups matched
	opLook             // match the code up to the opMatch before x, then go on at x
	opMatch            // the end, of the program or of a look
	opStart            // begin a loop: count none
	opLoop             // decide on another round: the repeat of the instruction
	opEnter            // begin a round: forget its groups
	opNext             // end a round: back to the loop
	opRun              // repeat one character, without a loop
)

type inst struct {
	op       op
	back     bool
	fold     bool
	negative bool // of a look
	x        int
	chars    *chars
	loop     *loop
	numbers  []int // of the groups of a reference
}

// chars is a class that is asked fast about ASCII.
type chars struct {
	set   *set
	ascii [2]uint64
	fold  bool
	wide  bool // by code points
}

// loop is a repeat at run time: two registers hold its count and where its round
// began.
type loop struct {
	min, max    int
	greedy      bool
	first, last int
	register    int
	exit        int // where to go on
}

// compiler turns a tree into code. It recurses as deep as groups nest, which the
// parser bounds.
type compiler struct {
	flags     Flags
	code      []inst
	registers int
	back      bool
}

// maxCode bounds what counted repeats may expand to.
const maxCode = 1 << 20

func (c *compiler) program(tree node) {
	c.emit(inst{op: opSave, x: 0})
	c.node(tree)
	c.emit(inst{op: opSave, x: 1})
	c.emit(inst{op: opMatch})
}

func (c *compiler) emit(i inst) int {
	if len(c.code) >= maxCode {
		refuse("Regular expression too large")
	}
	i.back = c.back
	c.code = append(c.code, i)
	return len(c.code) - 1
}

func (c *compiler) node(n node) {
	switch n := n.(type) {
	case sequence:
		for i := range n {
			if c.back {
				i = len(n) - 1 - i
			}
			c.node(n[i])
		}
	case choice:
		c.choice(n)
	case literal, class:
		c.emit(c.character(n))
	case capture:
		open, closed := 2*n.number, 2*n.number+1
		if c.back {
			open, closed = closed, open
		}
		c.emit(inst{op: opSave, x: open})
		c.node(n.body)
		c.emit(inst{op: opSave, x: closed})
	case look:
		c.look(n)
	case assertion:
		c.emit(inst{op: opAssert, x: int(n.kind), fold: n.fold})
	case *reference:
		c.emit(inst{op: opRef, numbers: n.numbers, fold: n.fold})
	case repeat:
		c.repeat(n)
	}
}

func (c *compiler) character(n node) inst {
	if n, ok := n.(class); ok {
		return inst{op: opSet, chars: c.chars(n)}
	}
	l := n.(literal)
	if !l.fold {
		return inst{op: opChar, x: int(l.char)}
	}
	return inst{op: opChar, x: int(canonical(l.char, c.flags.CodePoints())), fold: true}
}

func (c *compiler) chars(n class) *chars {
	out := &chars{set: n.set, fold: n.fold, wide: c.flags.CodePoints()}
	for r := range rune(128) {
		if n.set.has(r) || n.fold && n.set.hasFolded(r, out.wide) {
			out.ascii[r/64] |= 1 << (r % 64)
		}
	}
	return out
}

func (s *chars) has(r rune) bool {
	if r < 128 {
		return s.ascii[r/64]&(1<<(r%64)) != 0
	}
	return s.set.has(r) || s.fold && s.set.hasFolded(r, s.wide)
}

func (c *compiler) choice(alternatives choice) {
	var ends []int
	for i, alternative := range alternatives {
		if i == len(alternatives)-1 {
			c.node(alternative)
			break
		}
		split := c.emit(inst{op: opSplit})
		c.node(alternative)
		ends = append(ends, c.emit(inst{op: opJump}))
		c.code[split].x = len(c.code)
	}
	for _, end := range ends {
		c.code[end].x = len(c.code)
	}
}

func (c *compiler) look(l look) {
	at := c.emit(inst{op: opLook, negative: l.negative})
	outer := c.back
	c.back = l.behind
	c.node(l.body)
	c.emit(inst{op: opMatch})
	c.back = outer
	c.code[at].x = len(c.code)
}

func (c *compiler) repeat(r repeat) {
	l := &loop{min: r.min, max: r.max, greedy: r.greedy, first: r.first, last: r.last}
	switch r.body.(type) {
	case literal, class:
		if !c.back {
			i := c.character(r.body)
			c.emit(inst{op: opRun, loop: l})
			c.emit(i)
			l.exit = len(c.code)
			return
		}
	}
	l.register = c.registers
	c.registers += 2
	c.emit(inst{op: opStart, loop: l})
	at := c.emit(inst{op: opLoop, loop: l})
	c.emit(inst{op: opEnter, loop: l})
	c.node(r.body)
	c.emit(inst{op: opNext, loop: l, x: at})
	l.exit = len(c.code)
}
