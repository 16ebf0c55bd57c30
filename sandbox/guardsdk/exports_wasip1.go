package guardsdk

import "unsafe"

// served is what the exports answer with. It is a package variable because a wasm
// export is a plain function that carries no receiver.
var served Handlers

// Serve makes h the module's guard in both forms, from one source. It is called
// while the program initialises, since a reactor's main never runs; a command's does:
//
//	var rule = guardsdk.Serve(guardsdk.Handlers{Step: check})
//
//	func main() {
//		if err := rule.Command(os.Stdin, os.Stdout); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// With -buildmode=c-shared it becomes a reactor, a hundred times quicker, and
// without a command:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o my-rule.wasm .
func Serve(h Handlers) Handlers {
	served = h
	return h
}

// input and output keep the two buffers of the running call alive: the host holds
// bare addresses, which the collector does not see.
var input, output []byte

//go:wasmexport bir_guard_v1
func abiVersion() int32 { return ABI }

// allocate gives the host room for one request. The next call replaces it, since
// the host never has two requests in one instance.
//
//go:wasmexport bir_alloc
func allocate(length uint32) unsafe.Pointer {
	input = make([]byte, max(length, 1)) // never nil, so never address zero
	return unsafe.Pointer(unsafe.SliceData(input))
}

//go:wasmexport bir_pin
func answerPin(ptr unsafe.Pointer, length uint32) uint64 { return answer(ptr, length) }

//go:wasmexport bir_value
func answerValue(ptr unsafe.Pointer, length uint32) uint64 { return answer(ptr, length) }

//go:wasmexport bir_step
func answerStep(ptr unsafe.Pointer, length uint32) uint64 { return answer(ptr, length) }

func answer(ptr unsafe.Pointer, length uint32) uint64 {
	output = served.Answer(unsafe.Slice((*byte)(ptr), length))
	address := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(output))))
	return address<<32 | uint64(len(output))
}
