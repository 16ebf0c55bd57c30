package stdio

import "testing"

func TestABatchFileRunsThroughCmdWithItsWordsIntact(t *testing.T) {
	got, err := batchLine(`C:\Program Files\nodejs\npx.cmd`, []string{"-y", "a b", `say "hi" & del`})
	want := `cmd.exe /d /s /c ""C:\Program Files\nodejs\npx.cmd" "-y" "a b" "say ""hi"" & del""`
	if got != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestWhatCmdWouldChangeIsRefused(t *testing.T) {
	for _, arg := range []string{"%PATH%", "a\nb", "a\rb", "a\x00b"} {
		if line, err := batchLine("npx.cmd", []string{arg}); err == nil {
			t.Errorf("%q became %s", arg, line)
		}
	}
}

func TestBatchFilesAreKnownByTheirExtension(t *testing.T) {
	for file, want := range map[string]bool{`C:\x\npx.CMD`: true, "run.bat": true, "node.exe": false, "cmd": false} {
		if isBatch(file) != want {
			t.Errorf("%s: %v", file, !want)
		}
	}
}
