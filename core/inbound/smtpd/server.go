package smtpd

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
	"golang.org/x/net/netutil"
)

const (
	// RFC 5321 section 4.5.3.2.7 asks a server to wait at least five minutes for
	// the next command. No client has a reason to pause here: no message is taken.
	commandTimeout = time.Minute
	answerTimeout  = time.Minute

	maxConnections  = 256
	maxOfNetwork    = 32       // an eighth of all, from one /24 or /64
	maxRecipients   = 100      // RFC 5321 section 4.5.3.1.8: at least 100
	maxMessageBytes = 25 << 20 // what SIZE (RFC 1870) announces
)

// Config is what a server is made of.
type Config struct {
	// Domain is the name the server greets with.
	Domain string
	Log    *slog.Logger

	// CommandTimeout is how long a client may be silent. Zero means 60 seconds.
	CommandTimeout time.Duration
	// PerNetwork is how many connections one network, a /24 of IPv4 or a /64 of IPv6,
	// may have open. Zero means 32.
	PerNetwork int
}

// Server answers SMTP clients. Safe for concurrent use.
type Server struct {
	smtp       *smtp.Server
	perNetwork int

	mu       sync.Mutex
	closed   bool
	listener net.Listener
}

// New makes a server that does not listen yet.
func New(cfg Config) *Server {
	s := smtp.NewServer(smtp.BackendFunc(newSession))
	s.Domain = cfg.Domain
	s.ReadTimeout = cmp.Or(cfg.CommandTimeout, commandTimeout)
	s.WriteTimeout = answerTimeout
	s.MaxRecipients = maxRecipients
	s.MaxMessageBytes = maxMessageBytes
	s.ErrorLog = &errorLog{cfg.Log}
	return &Server{smtp: s, perNetwork: cmp.Or(cfg.PerNetwork, maxOfNetwork)}
}

// Serve answers connections of l until Close, closes l and returns nil. Beyond
// 256 open connections further ones wait, and beyond 32 of one network further
// ones of that network are told to come back (421).
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return l.Close()
	}
	s.listener = netutil.LimitListener(newByNetwork(l, s.perNetwork), maxConnections)
	s.mu.Unlock()
	return s.smtp.Serve(s.listener)
}

// Close ends listening and all connections at once. Nothing is lost by that: no
// message is ever accepted, so none is on its way.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.smtp.Close()
	if s.listener == nil {
		return err
	}
	// The library closes the listeners that it knows of, and it may not have come
	// to know this one yet.
	if again := s.listener.Close(); !errors.Is(again, net.ErrClosed) {
		err = errors.Join(err, again)
	}
	return err
}

// errorLog takes the library's messages over into ours. What they say about
// clients is left out: whoever connects decides how often and with what.
type errorLog struct{ log *slog.Logger }

func (l *errorLog) Printf(format string, values ...any) {
	for i, v := range values {
		if _, ok := v.(net.Addr); ok {
			values[i] = "client"
		}
	}
	l.log.Warn("smtp", "error", fmt.Sprintf(format, values...))
}

func (l *errorLog) Println(values ...any) { l.log.Warn("smtp", "error", fmt.Sprint(values...)) }
