package stdio

import (
	"slices"
	"testing"
)

func TestABatchFileRunsThroughCmdWithItsWordsIntact(t *testing.T) {
	got, err := batchLine(`C:\Program Files\nodejs\npx.cmd`, []string{"-y", "a b", `say "hi" & del`, "", `C:\dir\`, `a\"b`, "100%", "%PATH%", "<x>|^&"})
	want := `cmd.exe /e:on /v:off /d /s /c ""C:\Program Files\nodejs\npx.cmd"` +
		` "-y" "a b" "say ""hi"" & del" "" "C:\dir\\" "a\\""b" "100%%cd:~,%" "%%cd:~,%PATH%%cd:~,%" "<x>|^&""`
	if got != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestWhatCmdCannotPassOnIsRefused(t *testing.T) {
	for _, arg := range []string{"a\nb", "a\rb", "a\x00b"} {
		if line, err := batchLine("npx.cmd", []string{arg}); err == nil {
			t.Errorf("%q became %s", arg, line)
		}
	}
	for _, file := range []string{`a"b.cmd`, "%x%.cmd"} {
		if line, err := batchLine(file, nil); err == nil {
			t.Errorf("%q became %s", file, line)
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

func TestAProgramIsFoundAsTheShellFindsIt(t *testing.T) {
	files := []string{`C:\node\npx`, `C:\node\npx.cmd`, `C:\node\node.exe`, `C:\tools\npx.exe`, `D:\work\sub\srv.bat`, `D:\work\local.exe`, `C:\x\my.srv.exe`}
	exists := func(f string) bool { return slices.Contains(files, f) }
	for name, want := range map[string]string{
		"npx":              `C:\node\npx.cmd`, // not npx, and before another folder's
		"npx.exe":          `C:\tools\npx.exe`,
		"node":             `C:\node\node.exe`,
		"NODE.EXE":         "", // names are compared by the file system
		`C:\node\npx`:      `C:\node\npx.cmd`,
		`C:\node\node.exe`: `C:\node\node.exe`,
		`sub\srv`:          `D:\work\sub\srv.bat`,
		`.\local`:          "",
		"local":            "", // the working folder is no place to find programs
		"my.srv":           `C:\x\my.srv.exe`,
		"absent":           "",
	} {
		if got := resolve(name, `D:\work`, `C:\node;;"C:\tools\";C:\x`, ".COM;.EXE;.BAT;.CMD", exists); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
