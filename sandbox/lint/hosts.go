package lint

// hosts are names of Node and of browsers that no body has, by what they reach.
var hosts = []struct {
	what       string
	suggestion string
	names      []string
}{
	{"bodies cannot reach the network", "let a step of the scenario fetch it, and read its toolOutput",
		[]string{"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Request", "Response", "Headers"}},
	{"bodies cannot see the process or its environment", "make what you need a parameter, and read params",
		[]string{"process", "Deno", "Bun", "__dirname", "__filename"}},
	{"bodies cannot load modules", "write what you need into the body",
		[]string{"require", "module", "exports", "importScripts"}},
	{"bodies have no timers and cannot wait", "call the function at once; a retry belongs to the tool",
		[]string{"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "requestAnimationFrame"}},
	{"bodies have no randomness or keys of the machine", "use a parameter, or Math.random(), which repeats",
		[]string{"crypto"}},
	{"bodies have no clock but Date", "use new Date(), which shows the time of the recording",
		[]string{"performance"}},
	{"bodies run in no browser", "read params and toolOutput instead",
		[]string{"window", "document", "navigator", "location", "localStorage", "sessionStorage", "alert", "self"}},
	{"that name is only Node's", "globalThis is the same everywhere",
		[]string{"global"}},
	{"bodies share no memory and compile no code", "plain arrays and functions do",
		[]string{"WebAssembly", "SharedArrayBuffer", "Atomics", "FinalizationRegistry", "WeakRef", "Worker"}},
}

// host says what a name would reach that no body may.
func host(name string) (what, suggestion string, ok bool) {
	for _, h := range hosts {
		for _, n := range h.names {
			if n == name {
				return h.what, h.suggestion, true
			}
		}
	}
	return "", "", false
}
