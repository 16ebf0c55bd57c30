package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/bir-run/bir/control/client/locate"
)

// maxSocketPath is what the address of a Unix socket holds on every system, with room
// for the suffix of one that is not in place yet.
const maxSocketPath = 100

// Socket is a Unix socket that listens, at first beside its place.
type Socket struct {
	*net.UnixListener
	path string      // where clients look for it
	temp string      // where it is until Place
	made fs.FileInfo // to know it again
}

// SocketPath is where clients find the socket of a root, empty where there can be none.
func SocketPath(home, root string) string {
	if runtime.GOOS == "windows" { // hooks and proxies use TCP there
		return ""
	}
	if path := locate.Beside(home, root, ".sock"); len(path) <= maxSocketPath {
		return path
	}
	sum := locate.Key(home) // homes of one user may have the same root
	path := filepath.Join(os.TempDir(), fmt.Sprintf("bir-%d", os.Getuid()), sum[:8]+locate.Key(root)+".sock")
	if len(path) > maxSocketPath {
		return ""
	}
	return path
}

// ListenSocket listens on a socket beside its place, so that connections can wait for
// a server that does not serve yet. Nil without an error: there can be no socket here.
func ListenSocket(ctx context.Context, home, root string) (*Socket, error) {
	path := SocketPath(home, root)
	if path == "" {
		return nil, nil
	}
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("listen on a socket: %w", err)
	}
	temp := fmt.Sprintf("%s.%d", path[:len(path)-len(".sock")], os.Getpid())
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listen on a socket: %w", err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", temp)
	if err != nil {
		return nil, err
	}
	s := &Socket{UnixListener: l.(*net.UnixListener), path: path, temp: temp}
	s.SetUnlinkOnClose(false) // it will have another name by then
	if err = os.Chmod(temp, 0o600); err == nil {
		s.made, err = os.Lstat(temp)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(temp))
	}
	return s, nil
}

// privateDir makes a folder that is the user's alone, or refuses the one that is there:
// in a folder for everyone's temporary files somebody may have been first.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ours(info) {
		return fmt.Errorf("%s is not this user's alone", dir)
	}
	return nil
}

// Path is where clients find the socket.
func (s *Socket) Path() string { return s.path }

// Temp is where the socket is until Place.
func (s *Socket) Temp() string { return s.temp }

// Place puts the socket where clients look. Whoever dialled the one that was there
// before stays with it.
func (s *Socket) Place() error { return Place(s.temp, s.path) }

// Place puts a socket that listens at temp where clients look for it. One that is
// there already was put there by the server before.
func Place(temp, path string) error {
	err := os.Rename(temp, path)
	if errors.Is(err, os.ErrNotExist) {
		if _, gone := os.Lstat(path); gone == nil {
			return nil
		}
	}
	return err
}

// Remove removes the socket's file, unless another one has taken its place.
func (s *Socket) Remove() {
	for _, path := range []string{s.temp, s.path} {
		if now, err := os.Lstat(path); err == nil && os.SameFile(now, s.made) {
			_ = os.Remove(path) // a socket that nobody listens on is replaced by the next one
		}
	}
}

// ListenTCP listens on loopback, at the address that the server before had where that
// can be: proxies and hooks over HTTP know it.
func ListenTCP(ctx context.Context, before string) (net.Listener, error) {
	lc := net.ListenConfig{Control: reusable}
	if before != "" {
		if l, err := lc.Listen(ctx, "tcp", before); err == nil {
			return l, nil
		}
	}
	return lc.Listen(ctx, "tcp", "127.0.0.1:0")
}

// ShareTCP listens at an address where the server before still listens, too; nil where
// that cannot be.
func ShareTCP(ctx context.Context, before string) net.Listener {
	if !canShare || before == "" {
		return nil
	}
	lc := net.ListenConfig{Control: reusable}
	l, err := lc.Listen(ctx, "tcp", before)
	if err != nil {
		return nil // then it is listened at once the other has left
	}
	return l
}
