package jsonrpc

// Head names a whole line like Classify, but of an answer whose id came first it
// looks at the head only, however long the rest is.
func Head(line []byte) Message {
	var s scanner
	s.headOnly = true
	s.reset()
	s.feed(line)
	return s.message(line, len(line), false)
}

// Pieces names one line that comes in pieces and is not kept. The zero value is
// ready.
type Pieces struct {
	scan scanner
	size int
}

// Add takes the next piece.
func (p *Pieces) Add(piece []byte) {
	if p.size == 0 {
		p.scan.reset()
	}
	p.scan.feed(piece)
	p.size += len(piece)
}

// Message is what the pieces were, as a Cut message, and makes room for the next.
func (p *Pieces) Message() Message {
	if p.size == 0 {
		p.scan.reset()
	}
	m := p.scan.message(nil, p.size, true)
	p.scan, p.size = scanner{}, 0
	return m
}

// IDAt is where the id stands in Raw; end is 0 without one.
func (m *Message) IDAt() (start, end int) {
	s := m.fields[fieldID]
	return s.start, s.end
}
