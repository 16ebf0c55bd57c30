package stdio

import (
	"fmt"
	"path"
	"strings"
)

// batchLine is the command line under which Windows runs a batch file such as
// npx.cmd. CreateProcess hands those to cmd.exe, which reads the line by rules of
// its own: /d skips autorun commands, /s strips just the outer quotes, and inside
// quotes only %, " and line ends still mean something. A quote is doubled; the
// others have no spelling that survives, so they are refused rather than run.
func batchLine(file string, args []string) (string, error) {
	var b strings.Builder
	b.WriteString(`cmd.exe /d /s /c "`)
	for i, word := range append([]string{file}, args...) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.ContainsAny(word, "%\r\n\x00") {
			return "", fmt.Errorf("argument %d of a batch file has a character that cmd.exe would change", i)
		}
		b.WriteString(`"` + strings.ReplaceAll(word, `"`, `""`) + `"`)
	}
	b.WriteByte('"')
	return b.String(), nil
}

// isBatch says whether Windows runs the file through cmd.exe.
func isBatch(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".cmd" || ext == ".bat"
}
