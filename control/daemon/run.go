package daemon

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/bir-run/bir/control"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/discover"
)

const (
	secretBytes = 32
	// closeTimeout bounds the end of the book and of its recorder: what the service
	// has not taken by then waits in the journal and the spool. Hooks wait for a next
	// server that is there already, and hosts for them.
	closeTimeout   = 5 * time.Second
	makeWayTimeout = time.Second
)

// Book is what the control server works for. Run keeps its time until ctx ends; Close
// leaves open runs for the next one, and returns when nothing more is written.
type Book interface {
	control.Book
	Run(ctx context.Context) error
	Close(ctx context.Context) error
}

// Config says which control server to run.
type Config struct {
	Home, Root, Version string
	// Open opens the book once this process is the one that serves. The key is for
	// fingerprints.
	Open   func(fingerprintKey string) (Book, error)
	Guards func() string
	// Announced, where it is set, is told where the server is, once others can find it.
	// Nobody is answered before it returns.
	Announced func(locate.File)
	Idle      time.Duration // 0: never ends for want of work
	// Replace takes over from whichever control server runs; without it, only from
	// an older one.
	Replace bool
	Logger  *slog.Logger // nil discards
}

// Run serves one root until ctx ends, a shutdown is asked for or nobody needs it.
// ErrRunning when another one serves and stays.
func Run(ctx context.Context, cfg Config) (err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if err := discover.MakeDir(cfg.Home); err != nil {
		return err
	}
	seat, err := take(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, seat.lock.Close()) }()
	if err := seat.open(ctx, cfg); err != nil {
		return errors.Join(err, seat.leave(cfg))
	}
	return serve(ctx, cfg, seat)
}

// seat is what the one control server of a root has.
type seat struct {
	lock   closer
	before discover.File // what the last one left; zero where it left nothing
	// handed says that the last one handed over just now, so that nobody else can
	// have had its address meanwhile.
	handed bool
	file   discover.File // what this one writes
	tcp    net.Listener
	socket *discover.Socket // nil: there can be none
}

type closer interface{ Close() error }

// open listens, unless that was done before the last one handed over, and fills in the
// file.
func (s *seat) open(ctx context.Context, cfg Config) (err error) {
	if s.socket == nil {
		if s.socket, err = discover.ListenSocket(ctx, cfg.Home, cfg.Root); err != nil {
			cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "control.no_socket", slog.Any("error", err)) // TCP does, too
		}
	}
	before, _ := s.before.Address()
	if s.tcp == nil {
		if s.tcp, err = discover.ListenTCP(ctx, before); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
	}
	address := s.tcp.Addr().String()
	s.file = discover.File{
		File: locate.File{
			URL: "http://" + address, Token: newSecret(), PID: os.Getpid(),
			Version: cfg.Version, Root: cfg.Root, StartedAt: time.Now().UnixMilli(),
		},
		FingerprintKey: s.before.FingerprintKey,
	}
	if s.handed && address == before {
		// Hooks over HTTP and proxies have it from their environment. After a crash it
		// is not kept: whoever had the port meanwhile may have been sent it.
		s.file.Token = s.before.Token
	}
	if s.file.FingerprintKey == "" {
		s.file.FingerprintKey = newSecret()
	}
	if s.socket != nil {
		s.file.Socket = s.socket.Path()
	}
	return nil
}

func newSecret() string {
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // documented never to fail
	return hex.EncodeToString(secret)
}

// serve opens the book, tells where it is and answers until the end.
func serve(ctx context.Context, cfg Config, s *seat) (err error) {
	book, err := cfg.Open(s.file.FingerprintKey)
	if err != nil {
		return errors.Join(fmt.Errorf("open the book: %w", err), s.leave(cfg))
	}
	server := control.New(control.Config{
		Book: book, Root: cfg.Root, Version: cfg.Version, Token: s.file.Token,
		Guards: cfg.Guards, Idle: cfg.Idle, Logger: cfg.Logger,
		HandOver: func(socket string) { s.makeWay(ctx, cfg, socket) },
	})
	var handedOver bool
	if err = s.announce(cfg); err == nil {
		handedOver, err = serveAndKeepTime(ctx, cfg, server, book, s.listeners())
	}
	timeout := closeTimeout
	if handedOver {
		timeout = makeWayTimeout
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if closed := book.Close(closing); closed != nil && !errors.Is(closed, context.DeadlineExceeded) {
		err = errors.Join(err, fmt.Errorf("close the book: %w", closed))
	}
	if handedOver { // the next one writes over the file, and has the socket
		return err
	}
	return errors.Join(err, s.leave(cfg))
}

// serveAndKeepTime ends when the server does. A book that cannot keep its time any
// more takes the server with it: the next one reads its journal.
func serveAndKeepTime(ctx context.Context, cfg Config, server *control.Server, book Book, on []net.Listener) (handedOver bool, err error) {
	serving, end := context.WithCancel(ctx)
	timing, stop := context.WithCancel(ctx)
	kept := make(chan error, 1)
	go func() { // ends with stop, or on the book's own error
		defer end()
		kept <- book.Run(timing)
	}()
	handedOver, err = server.Serve(serving, on...)
	end()
	stop()
	if timed := <-kept; timed != nil && !errors.Is(timed, context.Canceled) {
		cfg.Logger.LogAttrs(ctx, slog.LevelError, "control.book_failed", slog.Any("error", timed))
		err = errors.Join(err, fmt.Errorf("run the book: %w", timed))
	}
	return handedOver, err
}

func (s *seat) listeners() []net.Listener {
	if s.socket == nil {
		return []net.Listener{s.tcp}
	}
	return []net.Listener{s.tcp, s.socket}
}

// announce puts the socket and the file in place. Both already listen.
func (s *seat) announce(cfg Config) error {
	if s.socket != nil {
		if err := s.socket.Place(); err != nil {
			return fmt.Errorf("place the socket: %w", err)
		}
	}
	if err := discover.Write(cfg.Home, s.file); err != nil {
		return err
	}
	if cfg.Announced != nil {
		cfg.Announced(s.file.File)
	}
	cfg.Logger.Info("control.serving", "address", s.file.URL, "socket", s.file.Socket, "version", cfg.Version, "root", cfg.Root, "handed", s.handed)
	return nil
}

// makeWay lets the next one's socket take the place of ours, before ours closes.
func (s *seat) makeWay(ctx context.Context, cfg Config, socket string) {
	if socket == "" || s.socket == nil {
		return
	}
	if err := discover.Place(socket, s.socket.Path()); err != nil {
		cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "control.socket_not_placed", slog.Any("error", err)) // it does so itself, later
	}
}

// leave removes what this process put in place, and nothing of another's.
func (s *seat) leave(cfg Config) error {
	if s.tcp != nil {
		_ = s.tcp.Close() // closed already where it was served
	}
	if s.socket != nil {
		_ = s.socket.Close()
		s.socket.Remove()
	}
	return discover.Remove(cfg.Home, cfg.Root, os.Getpid())
}
