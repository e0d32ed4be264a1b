package smtpd

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
	"golang.org/x/net/netutil"
)

const (
	// RFC 5321 section 4.5.3.2.7 requires a server to wait at least five minutes for
	// the next command. This server waits less: it accepts no message, so a client has
	// no reason to pause.
	commandTimeout = time.Minute
	answerTimeout  = time.Minute

	maxConnections  = 256
	maxOfNetwork    = 32       // for one /24 or /64 network: an eighth of maxConnections
	maxRecipients   = 100      // RFC 5321 section 4.5.3.1.8 requires at least 100
	maxMessageBytes = 25 << 20 // what SIZE (RFC 1870) announces
)

// Config configures a server.
type Config struct {
	// Domain is the host name in the server's greeting.
	Domain string
	Log    *slog.Logger

	// CommandTimeout is how long the server waits for a client's next command; zero means 60
	// seconds.
	CommandTimeout time.Duration
	// PerNetwork is the maximum number of open connections of one network, a /24 of IPv4 or
	// a /64 of IPv6; zero means 32.
	PerNetwork int
}

// Server is the SMTP server, which refuses every recipient. It is safe for concurrent use.
type Server struct {
	smtp       *smtp.Server
	perNetwork int

	mu       sync.Mutex
	closed   bool
	listener net.Listener
}

// New returns a server that does not listen yet.
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

// Serve accepts connections from l until Close is called. It then closes l and returns nil.
// At 256 open connections, new connections wait. At Config.PerNetwork connections of one
// network, Serve refuses new ones of that network with status 421.
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

// Close stops listening and closes all connections at once. No mail is lost, because no
// message is ever accepted.
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
	// The SMTP library closes the listeners that it has registered. It may not have
	// registered this server's listener yet, so close the listener here too.
	if again := s.listener.Close(); !errors.Is(again, net.ErrClosed) {
		err = errors.Join(err, again)
	}
	return err
}

// errorLog forwards messages of the SMTP library to our log as warnings, without the
// network address of the client. It replaces arguments of the type net.Addr by the word
// "client", and an error with a *net.OpError by the operation and the cause in it.
type errorLog struct{ log *slog.Logger }

func (l *errorLog) Printf(format string, values ...any) {
	l.log.Warn("smtp", "error", fmt.Sprintf(format, withoutClient(values)...))
}

func (l *errorLog) Println(values ...any) {
	l.log.Warn("smtp", "error", fmt.Sprint(withoutClient(values)...))
}

// withoutClient returns a copy of the arguments of a log message in which no value has the
// client's network address.
func withoutClient(values []any) []any {
	values = slices.Clone(values)
	for i, v := range values {
		switch v := v.(type) {
		case net.Addr:
			values[i] = "client"
		case error:
			if failed, ok := errors.AsType[*net.OpError](v); ok {
				values[i] = failed.Op + ": " + failed.Err.Error()
			}
		}
	}
	return values
}
