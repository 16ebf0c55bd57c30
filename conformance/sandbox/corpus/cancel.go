package corpus

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/sandbox"
)

// Cancelled cancels evaluations at every point, found by events and not by time: at each
// look at the caller's context, and at each stop of a relay before a real worker. The
// caller gets its context's error, never a value that is half there, and nothing is left.
func (s Suite) Cancelled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("without an environment a program there has no sockets")
	}
	goroutines, children := goleak.IgnoreCurrent(), len(Children(t))
	c := conduct(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	relayed := []string{self, asRelay, c.listener.Addr().String(), s.Worker}
	before := Holdings()
	for name, f := range map[string]func(*testing.T, *sandbox.Pool){
		"at a look":          s.cancelAtEachLook,
		"at a point":         c.cancelAtEachPoint,
		"at a second try":    c.cancelAtTheSecondTry,
		"waiting for a slot": c.cancelInTheQueue,
		"of an endless body": c.cancelAnEndlessBody,
	} {
		t.Run(name, func(t *testing.T) {
			command := relayed
			if name == "at a look" {
				command = []string{s.Worker}
			}
			pool := s.poolOf(t, command, sandbox.Config{Size: 1})
			f(t, pool)
			c.let()
			Serves(t, pool)
			pool.Close()
		})
	}
	c.close()
	before.AreBack(t)
	if now := len(Children(t)); now != children {
		t.Errorf("%d processes, before %d", now, children)
	}
	eventually(t, "goroutines are left", func() bool { return goleak.Find(goroutines) == nil })
	for _, pid := range c.workers {
		eventually(t, "a worker is left", func() bool {
			p, there := processOf(pid)
			return !there || p.state == "Z" || !strings.HasPrefix(p.name, "bir-sandbox")
		})
	}
}

// eventually waits for what nothing announces.
func eventually(t *testing.T, complaint string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !is(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Error(complaint)
			return
		}
	}
}

// looked is a context that ends as it is looked at for the nth time.
type looked struct {
	context.Context
	cancel context.CancelFunc

	mu   sync.Mutex // guards left
	left int
}

func endAtLook(parent context.Context, n int) *looked {
	ctx, cancel := context.WithCancel(parent)
	return &looked{Context: ctx, cancel: cancel, left: n}
}

func (l *looked) look() {
	l.mu.Lock()
	l.left--
	now := l.left == 0
	l.mu.Unlock()
	if now {
		l.cancel()
	}
}

func (l *looked) Done() <-chan struct{} { l.look(); return l.Context.Done() }
func (l *looked) Err() error            { l.look(); return l.Context.Err() }
func (l *looked) Value(key any) any     { l.look(); return l.Context.Value(key) }

// sum is what each evaluation here is asked for.
var sum = Raw("let s = 0; for (let i = 1; i <= 100; i++) s += i; return s")

const sumIs = "5050"

// cancelAtEachLook goes on until an evaluation ends before its context does, from a cold
// pool and, after that, from a warm one.
func (s Suite) cancelAtEachLook(t *testing.T, pool *sandbox.Pool) {
	for _, warm := range []bool{false, true} {
		for n := 1; ; n++ {
			if warm {
				Serves(t, pool)
			}
			ctx := endAtLook(t.Context(), n)
			result, err := pool.Eval(ctx, sum, sandbox.Args{})
			ended := ctx.Context.Err() != nil
			ctx.cancel()
			switch {
			case err == nil && string(result.Value) != sumIs:
				t.Errorf("look %d, warm %v: gave %s", n, warm, result.Value)
			case err != nil && !errors.Is(err, context.Canceled):
				t.Errorf("look %d, warm %v: %v", n, warm, err)
			}
			if !ended {
				t.Logf("warm %v: the context is looked at %d times", warm, n-1)
				break
			}
		}
	}
}

// stop is a point of the nth worker, from 1.
type stop struct {
	worker int
	point  string
}

// conductor is the test's side of the relays.
type conductor struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu        sync.Mutex  // guards the rest
	count     int         // workers since the stops were set
	hold, end stop        // where one is held, and where one ends
	reached   chan func() // lets the one that is held go on
	workers   []int       // the real ones
}

func conduct(t *testing.T) *conductor {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &conductor{listener: listener, reached: make(chan func(), 1)}
	c.serving.Go(func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.count++
			n := c.count
			c.mu.Unlock()
			c.serving.Go(func() { c.serve(conn, n) }) // ends with its relay
		}
	})
	return c
}

func (c *conductor) close() {
	_ = c.listener.Close()
	c.serving.Wait()
}

// serve answers the nth relay.
func (c *conductor) serve(conn net.Conn, n int) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		point := lines.Text()
		if pid, err := strconv.Atoi(point); err == nil {
			c.mu.Lock()
			c.workers = append(c.workers, pid)
			c.mu.Unlock()
			continue
		}
		c.mu.Lock()
		held, ends := c.hold == stop{n, point}, c.end == stop{n, point}
		c.mu.Unlock()
		switch {
		case ends:
			_, _ = conn.Write([]byte{die})
		case held:
			c.reached <- func() { _, _ = conn.Write([]byte{goOn}) } // it may have been killed
		default:
			_, _ = conn.Write([]byte{goOn})
		}
	}
}

// at says where the next evaluation is held, and where a worker ends before that.
func (c *conductor) at(hold, end stop) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count, c.hold, c.end = 0, hold, end
}

// let holds nothing any more.
func (c *conductor) let() { c.at(stop{}, stop{}) }

// ending is that of an evaluation that runs beside the test.
type ending struct {
	result sandbox.Result
	err    error
}

func begin(ctx context.Context, pool *sandbox.Pool, body sandbox.Body) <-chan ending {
	ended := make(chan ending, 1)
	go func() { // ends with the evaluation
		result, err := pool.Eval(ctx, body, sandbox.Args{})
		ended <- ending{result, err}
	}()
	return ended
}

// cancelHeld begins an evaluation, cancels it where it is held, and tells how it ended.
// With its answer given, it may end by itself.
func (c *conductor) cancelHeld(t *testing.T, pool *sandbox.Pool, body sandbox.Body) ending {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := begin(ctx, pool, body)
	select {
	case goOn := <-c.reached:
		cancel()
		e := <-ended
		goOn() // a worker that was kept is good again; another one is gone
		return e
	case e := <-ended:
		if c.hold.point != answerGiven {
			t.Fatalf("it was not held at %v but gave %s, %v", c.hold, e.result.Value, e.err)
		}
		(<-c.reached)()
		return e
	}
}

func (e ending) mustBeCancelled(t *testing.T, where string) {
	t.Helper()
	if !errors.Is(e.err, context.Canceled) || e.result.Value != nil {
		t.Errorf("cancelled when %s it gave %s, %v", where, e.result.Value, e.err)
	}
}

func (c *conductor) cancelAtEachPoint(t *testing.T, pool *sandbox.Pool) {
	for _, point := range []string{started, setupRead, greetingRead, halfTheGreeting, questionRead, inTheBody, answerRead, halfTheAnswer} {
		c.at(stop{1, point}, stop{})
		c.cancelHeld(t, pool, sum).mustBeCancelled(t, point)
	}
	// The value is there: either is right.
	c.at(stop{1, answerGiven}, stop{})
	if e := c.cancelHeld(t, pool, sum); e.err == nil && string(e.result.Value) != sumIs || e.err != nil && !errors.Is(e.err, context.Canceled) {
		t.Errorf("gave %s, %v", e.result.Value, e.err)
	}
}

// The first worker is lost, which costs the caller nothing, and the second is held.
func (c *conductor) cancelAtTheSecondTry(t *testing.T, pool *sandbox.Pool) {
	for _, point := range []string{started, questionRead, halfTheAnswer} {
		c.at(stop{2, point}, stop{1, inTheBody})
		c.cancelHeld(t, pool, sum).mustBeCancelled(t, "lost once and "+point)
	}
	c.at(stop{}, stop{1, halfTheAnswer})
	if e := <-begin(t.Context(), pool, sum); e.err != nil || string(e.result.Value) != sumIs {
		t.Errorf("lost once it gave %s, %v", e.result.Value, e.err)
	}
}

func (c *conductor) cancelInTheQueue(t *testing.T, pool *sandbox.Pool) {
	c.at(stop{1, inTheBody}, stop{})
	first := begin(t.Context(), pool, sum)
	goOn := <-c.reached
	for n := 1; n <= 2; n++ { // as it comes, and where it waits
		ctx := endAtLook(t.Context(), n)
		result, err := pool.Eval(ctx, sum, sandbox.Args{})
		ctx.cancel()
		ending{result, err}.mustBeCancelled(t, "it waited for a slot")
	}
	goOn()
	if e := <-first; e.err != nil || string(e.result.Value) != sumIs {
		t.Errorf("the one that had the slot gave %s, %v", e.result.Value, e.err)
	}
}

func (c *conductor) cancelAnEndlessBody(t *testing.T, pool *sandbox.Pool) {
	for _, source := range []string{"for (;;);", "Array.prototype.indexOf.call({length: 2**53-1}, 1)"} {
		c.at(stop{1, inTheBody}, stop{})
		c.cancelHeld(t, pool, Raw(source)).mustBeCancelled(t, source)
	}
}
