package guardtest

import "slices"

// Where a reactor made here keeps its verdict and takes its request. The memory
// has room for the largest request.
const (
	VerdictAt = 1024
	RequestAt = 1 << 16
	pages     = 32
)

// Verdicts for modules that always say the same.
const (
	Allow = `{"allow":true}`
	Deny  = `{"allow":false,"code":"test_denied","reason":"this guard denies"}`
)

// Packed is a reactor's answer: where its verdict is and how long.
func Packed(at, length uint32) int64 { return int64(uint64(at)<<32 | uint64(length)) }

// Reactor is a guard that gives the same verdict to every question. Functions 0 to
// 4 are bir_guard_v1, bir_alloc, bir_pin, bir_value and bir_step.
func Reactor(verdict string) Module {
	answer := Const64(Packed(VerdictAt, uint32(len(verdict))))
	ask := func(name string) Func {
		return Func{Export: name, Params: []byte{I32, I32}, Results: []byte{I64}, Code: answer}
	}
	return Module{
		MinPages: pages,
		Global:   true,
		Funcs: []Func{
			{Export: "bir_guard_v1", Results: []byte{I32}, Code: Const(1)},
			{Export: "bir_alloc", Params: []byte{I32}, Results: []byte{I32}, Code: Const(RequestAt)},
			ask("bir_pin"), ask("bir_value"), ask("bir_step"),
		},
		Data: []Data{{At: VerdictAt, Bytes: []byte(verdict)}},
	}
}

// With replaces the code of the exported function.
func (m Module) With(export string, code []byte) Module {
	m.Funcs = slices.Clone(m.Funcs)
	for i := range m.Funcs {
		if m.Funcs[i].Export == export {
			m.Funcs[i].Code = code
		}
	}
	return m
}

// Without drops the export; the function stays, so that numbers do not shift.
func (m Module) Without(export string) Module {
	m.Funcs = slices.Clone(m.Funcs)
	for i := range m.Funcs {
		if m.Funcs[i].Export == export {
			m.Funcs[i].Export = ""
		}
	}
	return m
}

// Add appends a function.
func (m Module) Add(f Func) Module {
	m.Funcs = append(slices.Clone(m.Funcs), f)
	return m
}

// Numbers of the functions that Command imports.
const (
	FdWrite = iota
	ProcExit
	FdPrestatGet
	EnvironSizesGet
	ArgsSizesGet
	ClockTimeGet
	RandomGet
	commandImports
)

// Print is code for Command: the text at VerdictAt goes to standard output.
func Print(length uint32) []byte {
	return Join(
		Const(0), Const(VerdictAt), store, Const(4), Const(int32(length)), store, // one buffer, described at 0
		Const(1), Const(0), Const(1), Const(8), Call(FdWrite), Drop)
}

// Load is i32.load, with the address on the stack.
var Load = []byte{0x28, 2, 0}

var store = []byte{0x36, 2, 0}

// Command is a guard in command form whose _start is the code. The text is at
// VerdictAt.
func Command(text string, code []byte) Module {
	wasi := func(name string, params ...byte) Import {
		return Import{Module: "wasi_snapshot_preview1", Name: name, Params: params, Results: []byte{I32}}
	}
	exit := wasi("proc_exit", I32)
	exit.Results = nil
	return Module{
		MinPages: pages,
		Imports: []Import{
			wasi("fd_write", I32, I32, I32, I32), exit, wasi("fd_prestat_get", I32, I32),
			wasi("environ_sizes_get", I32, I32), wasi("args_sizes_get", I32, I32),
			wasi("clock_time_get", I32, I64, I32), wasi("random_get", I32, I32),
		},
		Funcs: []Func{{Export: "_start", Code: code}},
		Data:  []Data{{At: VerdictAt, Bytes: []byte(text)}},
	}
}
