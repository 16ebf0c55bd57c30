package stdio

import (
	"os/exec"
	"syscall"
)

// command finds argv[0] as the shell would: LookPath tries the extensions of
// PATHEXT, so that npx finds npx.cmd.
func command(argv []string) (*exec.Cmd, error) {
	file, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	if !isBatch(file) {
		return exec.Command(file, argv[1:]...), nil
	}
	line, err := batchLine(file, argv[1:])
	if err != nil {
		return nil, err
	}
	shell, err := exec.LookPath("cmd.exe")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(shell)
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: line}
	return cmd, nil
}
