package smtpd

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/throttle"
)

// Config configures a server. All fields are required, unless their comments define what the
// zero value means.
type Config struct {
	// Domain is the host name in the greeting and in Received fields.
	Domain string
	// Router is asked for each recipient, by several goroutines.
	Router inbound.Router
	// Intake takes the messages. Its context ends with the server, and five minutes after the
	// longest transfer.
	Intake inbound.Intake
	// TLS has the certificate for STARTTLS. If it is nil, STARTTLS is not offered.
	TLS *tls.Config
	// Limits may be zero.
	Limits Limits
	// Count is called for each connection, recipient and message, for metrics. It must not wait.
	// It may be nil.
	Count func(Event, Outcome)
	Clock core.Clock
	Log   *slog.Logger
}

// Server is the SMTP server. It is safe for concurrent use.
type Server struct {
	cfg    Config
	limits Limits
	pace   *throttle.Throttle // of messages, by network
	places chan struct{}      // one for each session

	// ctx ends when the server closes connections. done is closed when it stops listening.
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	stopped  bool
	listener net.Listener
	sessions map[*session]struct{}
	running  sync.WaitGroup
}

// New returns a server that does not listen yet.
func New(cfg Config) *Server {
	if cfg.Count == nil {
		cfg.Count = func(Event, Outcome) {}
	}
	limits := cfg.Limits.withDefaults()
	//nolint:forbidigo // the server ends by Shutdown and Close; messages must not end with the context of the start
	ctx, cancel := context.WithCancel(context.Background())
	return &Server{
		cfg: cfg, limits: limits,
		pace:   throttle.New(limits.MessagesOfNetwork, pacePeriod/time.Duration(limits.MessagesOfNetwork)),
		places: make(chan struct{}, limits.Connections),
		ctx:    ctx, cancel: cancel, done: make(chan struct{}),
		sessions: map[*session]struct{}{},
	}
}

// pacePeriod is the time of Limits.MessagesOfNetwork.
const pacePeriod = 100 * time.Second

// Serve accepts connections from l until Shutdown or Close is called. It then closes l, waits
// until all connections have ended, and returns nil.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return l.Close()
	}
	s.listener = newByNetwork(l, s.limits.PerNetwork, func() { s.cfg.Count(Connection, TooMany) })
	l = s.listener
	s.mu.Unlock()
	defer s.running.Wait()
	for {
		conn, err := s.accept(l)
		if conn == nil {
			return err
		}
		s.admit(conn)
	}
}

// accept returns the next connection. It returns nil if the server stops or the listener fails.
func (s *Server) accept(l net.Listener) (net.Conn, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		conn, err := l.Accept()
		if err == nil {
			return conn, nil
		}
		if s.stopping() {
			return nil, nil
		}
		if !isShortage(err) {
			return nil, err
		}
		s.cfg.Log.WarnContext(s.ctx, "smtp: a connection could not be accepted", "error", err)
		if !s.wait(pause) {
			return nil, nil
		}
	}
}

// isShortage reports whether Accept may succeed later.
func isShortage(err error) bool {
	for _, one := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// wait waits, and reports false if the server stops before.
func (s *Server) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.done:
		return false
	}
}

// start runs the session of a connection that has a place in a goroutine.
func (s *Server) start(conn net.Conn) {
	one := newSession(s, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[one] = struct{}{}
	if s.stopped {
		one.wire.stop()
	}
	s.running.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.sessions, one)
			s.mu.Unlock()
			<-s.places
		}()
		s.cfg.Count(Connection, Accepted)
		one.run()
	})
}

// Open returns the number of open connections.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

func (s *Server) stopping() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Shutdown stops listening and ends connections with 421 as soon as they have no message in
// transfer. When ctx ends, it closes the remaining connections and returns an error. Their
// messages were not accepted, so their senders try again later.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.stop()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return errors.Join(err, s.Close())
	case <-ctx.Done():
		return errors.Join(err, ctx.Err(), s.Close())
	}
}

// Close stops listening and closes all connections at once. It may be repeated.
func (s *Server) Close() error {
	err := s.stop()
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.sessions {
		_ = one.wire.close() // the session ends with an error of its own
	}
	return err
}

// stop stops listening and tells all sessions to end.
func (s *Server) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	close(s.done)
	for one := range s.sessions {
		one.wire.stop()
	}
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}
