// Package reach finds what a binary needs beside itself: bir's other binaries, and
// the service. It is light, since bir-proxy links it.
package reach

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/launch"
)

// Binary finds another of bir's binaries: beside executable, which is our own
// path, else on the PATH.
func Binary(executable, name string) (string, error) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if found, err := exec.LookPath(filepath.Join(filepath.Dir(executable), name)); err == nil {
		return found, nil
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside %s nor on the PATH (`make` builds every binary into one folder)", name, executable)
	}
	return found, nil
}

// Service finds the service, or starts the embedded one.
func Service(ctx context.Context, e env.Env, executable string, log *slog.Logger) (*client.Client, error) {
	bir, err := Binary(executable, "bir")
	if err != nil {
		return nil, err
	}
	return launch.Connect(ctx, launch.Config{
		Home:         e.Home,
		AuthURL:      e.AuthURL,
		Token:        e.AuthToken,
		ServeCommand: []string{bir, "serve"},
		Env:          e.Vars,
		Logger:       log,
	})
}
