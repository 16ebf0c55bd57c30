package tier

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

func TestABurstIsReportedTogetherAndInOrder(t *testing.T) {
	const burst = 3*maxTogether + 1
	for _, lists := range []bool{true, false} {
		play(t, nil, nil, func(s *stage) {
			s.server.set(func() { s.server.answer.Lists = lists })
			s.calls(burst)
			s.server.start()
			s.after(time.Second)
			reports := s.server.reports()
			if len(reports) != burst {
				t.Errorf("%d reports", len(reports))
			}
			for i, r := range reports {
				if r.ToolName != fmt.Sprint("t", i) || r.Lost != 0 {
					t.Errorf("report %d is of %s, lost %d", i, r.ToolName, r.Lost)
				}
			}
			var want []int // the last is alone
			if lists {
				want = []int{maxTogether, maxTogether, maxTogether}
			}
			if diff := cmp.Diff(want, s.server.listed()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLargeCallsAreNotReportedTogether(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		const large = maxTogetherBytes * 2 / 5
		for i := range 5 {
			s.RecordCall("run_1", recorder.Call{ID: fmt.Sprint(i), ServerName: "fleet", ToolName: fmt.Sprint(i),
				Result: json.RawMessage(`"` + strings.Repeat("a ", large/2) + `"`)})
		}
		s.server.start()
		s.after(time.Second)
		if diff := cmp.Diff([]string{"0", "1", "2", "3", "4"}, toolsOf(s.server.reports())); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{2, 2}, s.server.listed()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAReportOfAListThatIsRefusedIsLostAloneAndSaidSo(t *testing.T) {
	for name, bad := range map[string]string{"first": "t0", "middle": "t2", "last": "t4"} {
		play(t, func(c *Config) { c.NoOwnRun = true }, nil, func(s *stage) {
			s.server.refuse = func(r client.StepReport) error {
				if r.ToolName == bad {
					return &client.Refused{Status: 400}
				}
				return nil
			}
			s.calls(5)
			s.server.start()
			s.after(time.Second)
			s.call("after")
			s.after(0)
			reports := s.server.reports()
			if len(reports) != 5 || reports[4].ToolName != "after" || reports[4].Lost != 1 {
				t.Errorf("%s: %+v", name, reports)
			}
			if got := len(s.server.registrations()); got != 1 {
				t.Errorf("%s: registered %d times", name, got)
			}
		})
	}
}

func TestAControlServerThatTakesNoListAfterAllGetsOneByOne(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.server.refuseList = &client.Refused{Status: 400}
		s.calls(5)
		s.server.start()
		s.after(time.Second)
		if diff := cmp.Diff([]string{"t0", "t1", "t2", "t3", "t4"}, toolsOf(s.server.reports())); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{5, 5}, s.server.listed()); diff != "" {
			t.Error(diff)
		}
	})
}
