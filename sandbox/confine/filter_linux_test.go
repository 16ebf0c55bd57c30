//go:build amd64 || arm64 || riscv64 || loong64

package confine

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// judge runs a filter as the kernel does.
func judge(t *testing.T, program []unix.SockFilter, arch, call uint32) uint32 {
	t.Helper()
	var value uint32
	for at := 0; at < len(program); at++ {
		switch i := program[at]; i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			value = map[uint32]uint32{callAt: call, archAt: arch}[i.K]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			if value == i.K {
				at += int(i.Jt)
			}
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			if value >= i.K {
				at += int(i.Jt)
			}
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		default:
			t.Fatalf("instruction %d has code %#x", at, i.Code)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestTheFilterRefusesWhatIsListedAndNothingElse(t *testing.T) {
	full := slices.Concat(denied, older)
	for name, refused := range map[string][]uint32{
		"ours": full, "none": nil, "zero": {0}, "one": {7}, "two": {7, 9}, "range": {9, 7, 8, 7}, "three": {1, 3, 5}, "even": {0, 2, 4, 6, 8},
	} {
		program, err := filter(refused)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for call := range uint32(2000) {
			if got, want := judge(t, program, arch, call) == deny, slices.Contains(refused, call); got != want {
				t.Errorf("%s: call %d refused: %t", name, call, got)
			}
		}
	}
}

// A processor that knows two ways into the kernel must not be asked in the other one.
func TestTheFilterRefusesTheCallsOfOtherProcessors(t *testing.T) {
	program, err := filter(slices.Concat(denied, older))
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []uint32{0, unix.SYS_READ, unix.SYS_EXECVE, 5000} {
		if judge(t, program, unix.AUDIT_ARCH_I386, call) != deny {
			t.Errorf("call %d of a 386 is let through", call)
		}
		if judge(t, program, arch, call|x32Calls) != deny {
			t.Errorf("call %d of x32 is let through", call)
		}
		if judge(t, program, arch, ^call) != deny {
			t.Errorf("call %d is let through", ^call)
		}
	}
}

func TestAFilterTooLongForItsJumpsIsNone(t *testing.T) {
	var many []uint32
	for call := range uint32(1000) {
		many = append(many, 2*call)
	}
	if _, err := filter(many); err == nil {
		t.Error("there is one")
	}
}
