package stdio

import (
	"errors"
	"strings"
)

// What Windows makes of a command. These functions are pure, so that they are tested
// everywhere.

// resolve finds a program as the shell would: a path from dir, anything else along
// path, with the extensions of pathext. A name without one of those is never taken as
// it is: npm puts a script for other systems, npx, beside npx.cmd. Nor is it looked
// for where we happen to run. It returns "" for none.
func resolve(name, dir, path, pathext string, exists func(string) bool) string {
	names := []string{name}
	if !hasExtension(name, pathext) {
		names = nil
		for ext := range strings.SplitSeq(strings.ToLower(pathext), ";") {
			if ext != "" {
				names = append(names, name+ext)
			}
		}
	}
	switch {
	case !strings.ContainsAny(name, `\/:`):
		return firstOf(names, folders(path), exists)
	case strings.Contains(name, ":"), strings.HasPrefix(name, `\`), strings.HasPrefix(name, "/"):
		return firstOf(names, []string{""}, exists)
	}
	return firstOf(names, []string{dir}, exists)
}

// folders are those of a PATH, of which some may be quoted.
func folders(path string) (list []string) {
	for place := range strings.SplitSeq(path, ";") {
		if place = strings.Trim(place, `"`); place != "" {
			list = append(list, place)
		}
	}
	return list
}

func firstOf(names, places []string, exists func(string) bool) string {
	for _, place := range places {
		for _, name := range names {
			file := name
			if place != "" {
				file = strings.TrimRight(place, `\/`) + `\` + name
			}
			if exists(file) {
				return file
			}
		}
	}
	return ""
}

func hasExtension(name, pathext string) bool {
	for ext := range strings.SplitSeq(strings.ToLower(pathext), ";") {
		if ext != "" && strings.HasSuffix(strings.ToLower(name), ext) {
			return true
		}
	}
	return false
}

// isBatch says whether Windows runs the file through cmd.exe.
func isBatch(file string) bool {
	return hasExtension(file, ".cmd;.bat")
}

// batchLine is the command line under which Windows runs a batch file such as
// npx.cmd. CreateProcess hands those to cmd.exe, which reads the line by rules of its
// own: /d skips autorun commands, /s strips just the outer quotes, and /e:on /v:off
// set how variables are read. A line end has no spelling that survives, so it is
// refused rather than run.
func batchLine(file string, args []string) (string, error) {
	if strings.ContainsAny(file, "\"%\r\n\x00") {
		return "", errors.New("the batch file's name has a character that cmd.exe would change")
	}
	var b strings.Builder
	b.WriteString(`cmd.exe /e:on /v:off /d /s /c ""` + file + `"`)
	for _, arg := range args {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", errors.New("an argument of a batch file has a line end, which cmd.exe cannot pass on")
		}
		b.WriteString(" " + batchWord(arg))
	}
	b.WriteByte('"')
	return b.String(), nil
}

// batchWord is one argument, for cmd.exe and then for the program that the batch file
// starts. Inside quotes cmd.exe heeds only quotes and percent signs: a quote is doubled,
// which both read as one, and a percent sign is led by an empty piece of the variable
// cd, so that no name stands between two of them. The program takes backslashes
// before a quote for half as many.
func batchWord(arg string) string {
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for _, c := range arg {
		switch c {
		case '\\':
			slashes++
			b.WriteByte('\\')
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes) + `"`)
		case '%':
			b.WriteString("%%cd:~,")
		}
		slashes = 0
		b.WriteRune(c)
	}
	b.WriteString(strings.Repeat(`\`, slashes) + `"`)
	return b.String()
}
