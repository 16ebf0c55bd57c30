package relay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
)

func about(id, method, task string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"taskId":"` + task + `"}}`
}

const (
	legacyTask = `{"task":{"taskId":"t1","status":"working"}}`
	modernTask = `{"resultType":"task","taskId":"t1","status":"working"}`
)

func TestATaskIsOneCallThatEndsWithTheTask(t *testing.T) {
	for name, c := range map[string]struct {
		handle string
		then   [][2]string // what the host asks, and the answer
		want   told
	}{
		"legacy result": {legacyTask, [][2]string{
			{about("2", "tasks/get", "t1"), result("2", `{"taskId":"t1","status":"completed"}`)},
			{about("3", "tasks/result", "t1"), result("3", `{"content":[1.0]}`)},
			{about("4", "tasks/result", "t1"), result("4", `{"content":[1.0]}`)},
		}, told{"echo", `{}`, `{"content":[1.0]}`, "", recorder.StatusOK}},
		"legacy tool error": {legacyTask, [][2]string{{about("3", "tasks/result", "t1"), result("3", `{"isError":true}`)}},
			told{"echo", `{}`, `{"isError":true}`, "", recorder.StatusToolError}},
		"legacy error": {legacyTask, [][2]string{
			{about("2", "tasks/get", "t1"), result("2", `{"status":"failed"}`)},
			{about("3", "tasks/result", "t1"), `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"bad"}}`},
		}, told{"echo", `{}`, "", "bad", recorder.StatusRPCError}},
		"legacy cancelled": {legacyTask, [][2]string{{about("2", "tasks/cancel", "t1"), result("2", `{"taskId":"t1","status":"cancelled"}`)}},
			told{"echo", `{}`, "", "", recorder.StatusCancelled}},
		"modern result": {modernTask, [][2]string{
			{about("2", "tasks/get", "other"), result("2", `{"status":"completed","result":{"x":1}}`)},
			{about("3", "tasks/get", "t1"), result("3", `{"status":"working"}`)},
			{about("4", "tasks/get", "t1"), result("4", `{"status":"completed","result":{"content":[],"n":1e400}}`)},
		}, told{"echo", `{}`, `{"content":[],"n":1e400}`, "", recorder.StatusOK}},
		"modern failure": {modernTask, [][2]string{
			{about("3", "tasks/get", "t1"), `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"try again"}}`},
			{about("4", "tasks/get", "t1"), result("4", `{"status":"failed","error":{"message":"broke"}}`)},
		}, told{"echo", `{}`, "", "broke", recorder.StatusRPCError}},
		"never asked again": {modernTask, nil, told{"echo", `{}`, "", "", recorder.StatusNoAnswer}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			s.ask(call("1", "{}"))
			s.reply(result("1", c.handle))
			for _, turn := range c.then {
				s.ask(turn[0])
				s.reply(turn[1])
			}
			s.end()
			if diff := cmp.Diff([]told{c.want}, s.recorded()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiscoveringAndListeningAreNoCalls(t *testing.T) {
	s := start(t, nil)
	for _, method := range []string{"server/discover", "subscriptions/listen", "tasks/get", "tools/list"} {
		s.ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}`)
		s.reply(result("1", `{"resultType":"complete"}`))
	}
	s.end()
	if got := s.recorded(); got != nil {
		t.Errorf("recorded %v", got)
	}
}
