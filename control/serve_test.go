package control

import (
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bir-run/bir/control/client"
)

func TestShutdownFinishesWhatIsUnderWay(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	r := serve(t, Config{Book: &fakeBook{hook: func(string, []byte) []byte {
		close(began)
		<-release
		return []byte(`{"finished":true}`)
	}}})
	get[client.Registered](r, client.PathRegister, client.Register{ProxyID: "prx_1", ServerName: "fleet"})
	answers := make(chan string, 2)
	go func() { // ends with the answer
		_, answer := r.post("/tool/pre", "{}")
		answers <- answer
	}()
	<-began
	polled := make(chan string, 1)
	go func() { // ends with the server
		_, answer := r.post(client.PathPoll, `{"proxyId":"prx_1"}`)
		polled <- answer
	}()
	r.awaitPoll("prx_1")
	if status, _ := r.post(client.PathShutdown, ""); status != http.StatusAccepted {
		t.Errorf("status %d", status)
	}
	if answer := <-polled; answer != "{}" {
		t.Errorf("the poll was answered %s", answer)
	}
	close(release)
	if answer := <-answers; answer != `{"finished":true}` {
		t.Errorf("the hook was answered %s", answer)
	}
	r.ended()
	if r.over {
		t.Error("it says that another one takes over")
	}
}

// awaitPoll waits until a poll of the proxy waits.
func (r *running) awaitPoll(id string) {
	r.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); runtime.Gosched() {
		r.desk.mu.Lock()
		polling := r.desk.seats[id].polling
		r.desk.mu.Unlock()
		if polling > 0 {
			return
		}
	}
	r.Fatal("no poll came")
}

func TestAHandOverMakesWayBeforeTheDoorCloses(t *testing.T) {
	var r *running
	var asked atomic.Value
	open := make(chan bool, 1)
	cfg := Config{HandOver: func(socket string) {
		asked.Store(socket)
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err == nil {
			conn.Close()
		}
		open <- err == nil
	}}
	r = serve(t, cfg)
	if status, _ := r.post(client.PathShutdown, `{"handOver":true,"socket":"/tmp/next"}`); status != http.StatusAccepted {
		t.Errorf("status %d", status)
	}
	r.ended()
	if !r.over || asked.Load() != "/tmp/next" || !<-open {
		t.Errorf("over %v, asked for %v", r.over, asked.Load())
	}
}

func TestAConnectionThatBringsNothingDoesNotKeepTheServer(t *testing.T) {
	var took time.Duration
	for range 5 { // a server that is kept takes the whole time each time, a busy machine does not
		r := serve(t, Config{})
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if status, _ := r.do(http.MethodGet, client.PathHealth, "", nil); status != http.StatusOK { // so that it was accepted, too
			t.Errorf("status %d", status)
		}
		start := time.Now()
		r.stop()
		r.ended()
		if took = time.Since(start); took < drainTimeout {
			return
		}
	}
	t.Errorf("the end took %v", took)
}

func TestTheServerEndsWhenNobodyHasNeededItForLong(t *testing.T) {
	var idle atomic.Bool
	var looks atomic.Int64
	looked := make(chan struct{})
	r := serve(t, Config{Idle: 40 * time.Millisecond, Book: &fakeBook{idle: func() bool {
		if looks.Add(1) == 100 { // more than Idle's worth
			close(looked)
		}
		return idle.Load()
	}}})
	<-looked
	select {
	case <-r.done:
		t.Fatal("it ended while it was needed")
	default:
	}
	idle.Store(true)
	r.ended()
}

func TestWithoutABoundTheServerNeverEndsForWantOfWork(t *testing.T) {
	r := serve(t, Config{Book: &fakeBook{idle: func() bool { t.Error("it looks"); return true }}})
	if status, _ := r.do(http.MethodGet, client.PathHealth, "", nil); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}
