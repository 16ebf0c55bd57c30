package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	maxReports = 250
	// maxReportBytes bounds what the waiting reports may hold together. With what waits
	// for the service it is far below the process's soft memory limit: near it, the
	// collector would take more time than all the rest.
	maxReportBytes = 4 << 20
	// Reports are collected for a moment, so that a burst of calls wakes the recorder
	// once and not for each.
	collectTime  = 20 * time.Millisecond
	collectCount = 64
	collectBytes = 256 << 10
	flushTimeout = 2 * time.Second
)

// Recorder takes the reports. recorder.Recorder satisfies it.
type Recorder interface {
	StartRun(run recorder.Run)
	RecordCall(runID string, call recorder.Call)
	FinishRun(runID string, end recorder.Finish)
	Flush(ctx context.Context) error
}

// Record says where tool calls are reported and what is known about them ahead.
type Record struct {
	Recorder Recorder // nil records nothing
	Tier     recorder.Tier
	CWD      string
	Server   recorder.Server // how the upstream was reached
	// Paused says that nothing is recorded for now, neither a call that begins nor one
	// that ends; nil never does. It is asked at each call, from several goroutines.
	Paused func() bool
	// Host, when set, is told who the host says it is, once, and Lost that a call, or
	// what may have been several, could not be reported. They must not block: the
	// conversation would wait.
	Host func(recorder.App)
	Lost func()
}

func (r *Record) paused() bool { return r.Paused != nil && r.Paused() }

// report is one call that ended.
type report struct {
	call     *call
	answer   jsonrpc.Message // its Raw is nil without one, or without a copy of it
	buffer   *[]byte         // that the copy is in
	result   json.RawMessage
	failure  string
	status   recorder.Status
	duration time.Duration
	// needsInput and state are those of a result that only asks (R4).
	needsInput bool
	state      string
	task       string // that a result names in place of what was asked for
}

// reporter hands ended calls to the Recorder from a goroutine of its own, so that
// redaction and whatever follows it cost the conversation nothing.
type reporter struct {
	cfg     Record
	name    string
	log     *slog.Logger
	run     string            // empty until the first call; the goroutine's own
	await   map[string]report // calls that wait for input, by requestState; likewise
	tasks   map[string]report // calls that became tasks, by the task's id; likewise
	large   allowance         // of the goroutine that reads the upstream
	buffers sync.Pool         // of *[]byte: copies of answers that were recorded
	ended   chan struct{}
	wake    chan struct{} // holds one token when there is something to do at once
	timer   *time.Timer   // fires when there is something to do

	mu      sync.Mutex // guards all below
	queue   []report
	bytes   int
	lossy   bool
	closing bool
	host    recorder.App
}

func newReporter(cfg Record, name string, log *slog.Logger) *reporter {
	p := &reporter{cfg: cfg, name: name, log: log, await: map[string]report{}, tasks: map[string]report{},
		ended: make(chan struct{}), wake: make(chan struct{}, 1), timer: time.NewTimer(collectTime)}
	p.timer.Stop()
	return p
}

// answered reports a call that got its answer.
func (p *reporter) answered(c *call, m jsonrpc.Message, at time.Time) {
	r := report{call: c, duration: at.Sub(c.started)}
	switch {
	case !m.Cut && p.large.bySize(m, at):
		r.status, r.result = recorder.StatusOK, truncated(m.Size)
	case !m.Cut:
		r.buffer = p.copy(m.Raw)
		r.answer = m
		r.answer.Raw, r.answer.ID = *r.buffer, nil
	case m.HasResult():
		r.status, r.result = recorder.StatusOK, truncated(m.Size)
	default:
		r.status, r.failure = recorder.StatusRPCError, string(truncated(m.Size))
	}
	p.push(r)
}

// copy takes what the reader is about to write over. Most of what a recording
// allocates would be these copies, so their memory goes round.
func (p *reporter) copy(raw []byte) *[]byte {
	b, _ := p.buffers.Get().(*[]byte)
	if b == nil || cap(*b) < len(raw) {
		clone := bytes.Clone(raw)
		return &clone
	}
	*b = append((*b)[:0], raw...)
	return b
}

// unanswered reports a call that the end found in flight.
func (p *reporter) unanswered(c call) {
	if c.tool == nil {
		return
	}
	status := recorder.StatusNoAnswer
	if c.cancelled {
		status = recorder.StatusCancelled
	}
	p.push(report{call: &c, status: status, duration: time.Since(c.started)})
}

// push queues a report. A full queue drops its oldest and the run is marked lossy:
// the conversation never waits for the record.
func (p *reporter) push(r report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return
	}
	p.queue = append(p.queue, r)
	p.bytes += r.size()
	for len(p.queue) > maxReports || p.bytes > maxReportBytes && len(p.queue) > 1 {
		p.bytes -= p.queue[0].size()
		p.queue = p.queue[1:]
		p.loseLocked()
	}
	switch {
	case len(p.queue) == collectCount, p.bytes > collectBytes:
		p.poke()
	case len(p.queue) == 1:
		p.timer.Reset(collectTime)
	}
}

func (r *report) size() int {
	if r.call.tool == nil {
		return len(r.answer.Raw)
	}
	return len(r.answer.Raw) + len(r.call.tool.args)
}

func (p *reporter) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *reporter) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loseLocked()
}

func (p *reporter) loseLocked() {
	p.lossy = true
	if p.cfg.Lost != nil {
		p.cfg.Lost()
	}
}

// setHost keeps who the host says it is; the first word stands.
func (p *reporter) setHost(info []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host.App != "" {
		return
	}
	members, _ := jsonrpc.Object(info, "name", "version")
	p.host = recorder.App{App: text(members[0]), Version: text(members[1])}
	if p.cfg.Host != nil && p.host.App != "" {
		p.cfg.Host(p.host)
	}
}

// pop takes the oldest report; done means that there will be no more.
func (p *reporter) pop() (r report, ok, done bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		p.queue = nil // the slice has walked along its array
		return report{}, false, p.closing
	}
	r = p.queue[0]
	p.queue[0] = report{}
	p.queue = p.queue[1:]
	p.bytes -= r.size()
	return r, true, false
}

func (p *reporter) loop() {
	defer close(p.ended)
	defer func() {
		if fault := recover(); fault != nil {
			p.log.Error("recording stopped", "fault", fault)
		}
	}()
	for {
		select {
		case <-p.wake:
		case <-p.timer.C:
		}
		if done := p.work(); done {
			p.finishRun()
			return
		}
	}
}

// work empties the queue.
func (p *reporter) work() (done bool) {
	for {
		r, ok, done := p.pop()
		if !ok {
			return done
		}
		p.record(r)
	}
}

// record hands one ended call on, unless it only asks for input (R4): then it waits
// for its retry, and both are one call, with the arguments and the start of the
// first.
func (p *reporter) record(r report) {
	if r.call.task != "" {
		p.follow(r)
		return
	}
	state := r.call.tool.requestState
	if first, ok := p.await[state]; ok {
		delete(p.await, state)
		r.duration += r.call.started.Sub(first.call.started)
		r.call = first.call
	}
	if r.answer.Raw != nil {
		r.readAnswer()
	}
	switch {
	case r.needsInput:
		p.hold(r)
	case r.task != "":
		p.holdTask(r)
	default:
		p.send(r)
	}
}

// hold keeps a call until its retry. Without a state to know the retry by, or with
// too many that wait, the call is told as what it is so far: given up by the host.
func (p *reporter) hold(r report) {
	if r.state == "" || len(p.await) >= maxReports {
		p.send(gaveUp(r))
		return
	}
	p.await[r.state] = r
}

func gaveUp(r report) report {
	r.result, r.status = nil, recorder.StatusCancelled
	return r
}

func (p *reporter) send(r report) {
	if p.cfg.paused() {
		return
	}
	if p.run == "" {
		p.startRun(r.call.started)
	}
	tool := r.call.tool
	id := tool.useID
	if id == "" {
		id = tool.hookID
	}
	out := recorder.Call{
		ID: id, HookID: tool.hookID, ServerName: p.name, ToolName: tool.name,
		Args: tool.args, Result: r.result, Error: r.failure,
		Status: r.status, StartedAt: r.call.started.UTC(), Duration: r.duration,
	}
	if b := r.buffer; b != nil {
		out.Done = func() { p.buffers.Put(b) }
	}
	p.cfg.Recorder.RecordCall(p.run, out)
}

func (p *reporter) startRun(at time.Time) {
	p.mu.Lock()
	host := p.host
	p.mu.Unlock()
	p.run = recorder.NewID("run")
	p.cfg.Recorder.StartRun(recorder.Run{
		ID: p.run, Framework: "mcp", State: recorder.StateOpen, StartedAt: at.UTC(),
		Metadata: recorder.Metadata{
			Recorder: "bir", Tier: p.cfg.Tier, Host: host, CWD: p.cfg.CWD,
			WrappedServers: []string{p.name},
			Servers:        map[string]recorder.Server{p.name: p.cfg.Server},
		},
	})
}

func (p *reporter) finishRun() {
	for _, r := range p.await {
		p.send(gaveUp(r))
	}
	for _, r := range p.tasks {
		p.send(unknown(r))
	}
	if p.run == "" {
		return
	}
	p.mu.Lock()
	lossy := p.lossy
	p.mu.Unlock()
	p.cfg.Recorder.FinishRun(p.run, recorder.Finish{Lossy: lossy, FinishedAt: time.Now().UTC()})
}

// close hands on what is queued and waits, within a bound, until it is safe.
func (p *reporter) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	p.mu.Lock()
	p.closing = true
	p.poke()
	p.mu.Unlock()
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.log.Warn("recording did not end in time")
		return
	}
	if err := p.cfg.Recorder.Flush(ctx); err != nil {
		p.log.Warn("recording may be incomplete", "error", err)
	}
}

// readAnswer finds how the call ended.
func (r *report) readAnswer() {
	if !r.answer.HasResult() {
		full := jsonrpc.Classify(r.answer.Raw)
		r.status, r.failure = recorder.StatusRPCError, failureText(full.Error())
		return
	}
	result := r.answer.Tail()
	members, size := jsonrpc.Object(result, "isError", "resultType", "requestState", "task", "taskId")
	if size == 0 { // no object, so against the protocol, but all there is
		full := jsonrpc.Classify(r.answer.Raw)
		size = len(full.Result())
	}
	r.result = result[:size]
	r.status = recorder.StatusOK
	if string(members[0]) == "true" {
		r.status = recorder.StatusToolError
	}
	r.needsInput, r.state = text(members[1]) == "input_required", text(members[2])
	r.task = taskOf(text(members[1]), members[3], members[4])
}

// failureText is a JSON-RPC error's message, or the whole of it where it has none.
func failureText(raw []byte) string {
	if message := gjson.GetBytes(raw, "message"); message.Type == gjson.String {
		return message.Str
	}
	return string(raw)
}

// truncated stands for a payload that was too large to copy.
func truncated(size int) json.RawMessage {
	return fmt.Appendf(nil, `{"truncated":true,"originalBytes":%d}`, size)
}
