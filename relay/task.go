package relay

import (
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay/jsonrpc"
)

// A tools/call may be answered with a task: a handle to ask later what became of it.
// In the revision of 2025-11-25 tasks/result waits for the result; in the extension
// of 2026-07-28 tasks/get has it. Either way it is one call, which ends when the
// host sees how the task ended.
const (
	methodTaskGet    = "tasks/get"
	methodTaskResult = "tasks/result"
	methodTaskCancel = "tasks/cancel"
)

func (r *Relay) noteTask(c *call, _ jsonrpc.Message, params []byte) {
	if r.reporter != nil {
		members, _ := jsonrpc.Object(params, "taskId")
		c.task = text(members[0])
	}
}

// taskOf is the id of the task that a result names in its own place.
func taskOf(resultType string, task, id []byte) string {
	if resultType == "task" {
		return text(id)
	}
	members, _ := jsonrpc.Object(task, "taskId")
	return text(members[0])
}

// holdTask keeps a call until its task has ended.
func (p *reporter) holdTask(r report) {
	if len(p.tasks) >= maxReports {
		p.send(unknown(r))
		return
	}
	p.tasks[r.task] = r
}

// unknown is a call of which nobody saw how it ended.
func unknown(r report) report {
	r.result, r.status = nil, recorder.StatusNoAnswer
	return r
}

// follow looks at what the host was told about a task, and reports the call if the
// task has ended.
func (p *reporter) follow(r report) {
	held, ok := p.tasks[r.call.task]
	if !ok || r.status == recorder.StatusNoAnswer || r.status == recorder.StatusCancelled {
		return
	}
	if r.answer.Raw != nil {
		r.readAnswer()
	}
	ended := r.call.method == methodTaskResult
	if !ended {
		ended = r.readTask()
	}
	if !ended {
		return
	}
	delete(p.tasks, r.call.task)
	r.duration += r.call.started.Sub(held.call.started)
	r.call = held.call
	p.send(r)
}

// readTask finds in a task's description how it ended, if it did. One that failed
// without saying why still owes its tasks/result.
func (r *report) readTask() (ended bool) {
	if r.status != recorder.StatusOK {
		return false
	}
	members, _ := jsonrpc.Object(r.result, "status", "result", "error")
	result, failure := members[1], members[2]
	switch text(members[0]) {
	case "completed":
		flags, _ := jsonrpc.Object(result, "isError")
		if r.result = result; string(flags[0]) == "true" {
			r.status = recorder.StatusToolError
		}
		return result != nil
	case "failed":
		r.result, r.status, r.failure = nil, recorder.StatusRPCError, failureText(failure)
		return failure != nil
	case "cancelled":
		r.result, r.status = nil, recorder.StatusCancelled
		return true
	}
	return false
}
