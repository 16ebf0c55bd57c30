package stdio

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// command finds argv[0] along the PATH of env, and puts cmd.exe before a batch file.
func command(argv, env []string) (*exec.Cmd, error) {
	file := find(argv[0], env)
	if file == "" {
		return nil, &exec.Error{Name: argv[0], Err: exec.ErrNotFound}
	}
	if !isBatch(file) {
		return exec.Command(file, argv[1:]...), nil
	}
	line, err := batchLine(file, argv[1:])
	if err != nil {
		return nil, err
	}
	shell := find("cmd.exe", env)
	if shell == "" {
		return nil, &exec.Error{Name: "cmd.exe", Err: exec.ErrNotFound}
	}
	cmd := exec.Command(shell)
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line}
	return cmd, nil
}

func find(name string, env []string) string {
	path, pathext := "", ""
	for _, kv := range env {
		key, value, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(key) {
		case "PATH":
			path = value
		case "PATHEXT":
			pathext = value
		}
	}
	if pathext == "" {
		pathext = ".com;.exe;.bat;.cmd"
	}
	if path == "" { // the caller named no environment
		file, err := exec.LookPath(name)
		if err != nil {
			return ""
		}
		return file
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return resolve(name, dir, path, pathext, isFile)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
