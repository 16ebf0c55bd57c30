//go:build unix

package stdio

import "os/exec"

// command finds argv[0] along our PATH, as a shell would.
func command(argv, _ []string) (*exec.Cmd, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Args[0] = argv[0]
	return cmd, nil
}
