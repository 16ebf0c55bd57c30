//go:build linux

package claude

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "github.com/bir-run/bir/conformance/fakemodel"
)

// BenchmarkSessionStart measures from the client's start to its first request to the
// model, with three servers that are ready by then: without bir, and with a proxy before
// each. Both are done in turn, so that a machine that gets slower slows both.
func BenchmarkSessionStart(b *testing.B) {
	names := []string{"fleet", "depot", "roads"}
	direct, bound := newLab(b, Script{}, names...), newLab(b, Script{}, names...)
	for _, l := range []*lab{direct, bound} {
		l.commit()
		l.approve()
	}
	bound.install()
	var without, with, added []time.Duration
	for b.Loop() {
		d, w := direct.sessionStart(), bound.sessionStart()
		without, with, added = append(without, d), append(with, w), append(added, w-d)
	}
	report(b, "without", without)
	report(b, "with", with)
	report(b, "added", added)
}

func (l *lab) sessionStart() time.Duration {
	before := len(l.model.Asked())
	l.model.Say(Says("Hello."))
	begun := time.Now()
	l.prompt("Hello", "Hello.")
	return l.model.Asked()[before].At.Sub(begun)
}

// callsMeasured is how many calls a session of BenchmarkHooks makes, one after the other.
const callsMeasured = 40

// BenchmarkHooks measures what a tool call takes between two requests to the model:
// without hooks, with hooks that are commands and with hooks that are sent over HTTP.
// A call has three: before it, after it, and after its batch. Where there are hooks, there
// is a proxy, too.
func BenchmarkHooks(b *testing.B) {
	forms := []string{"none", "command", "http"}
	labs, each := map[string]*lab{}, map[string][]time.Duration{}
	for _, form := range forms {
		l := newLab(b, Script{})
		l.commit()
		l.approve()
		if form != "none" {
			l.install("setup", "--yes", "--hooks", form)
		}
		labs[form] = l
	}
	for b.Loop() {
		for _, form := range forms {
			each[form] = append(each[form], labs[form].callTimes()...)
		}
	}
	for _, form := range forms {
		report(b, form, each[form])
	}
}

func (l *lab) callTimes() []time.Duration {
	before := len(l.model.Asked())
	for i := range callsMeasured {
		l.model.Say(Calls(Tool(fmt.Sprintf("toolu_%d_%d", before, i), "mcp__fleet__look", `{"what":"van"}`)))
	}
	l.model.Say(Says("Seen."))
	l.prompt("Look often", "Seen.", "--allowedTools", allowed)
	asked := l.model.Asked()[before:]
	var each []time.Duration
	for i := 1; i < len(asked); i++ {
		each = append(each, asked[i].At.Sub(asked[i-1].At))
	}
	return each
}

// report adds the median and the best and worst tenth, in milliseconds.
func report(b *testing.B, what string, all []time.Duration) {
	slices.Sort(all)
	for name, at := range map[string]int{"p10": len(all) / 10, "p50": len(all) / 2, "p90": len(all) * 9 / 10} {
		b.ReportMetric(float64(all[at].Microseconds())/1000, what+"-"+name+"-ms")
	}
}
