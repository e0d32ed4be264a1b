package smtp

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Server is the SMTP server of an organization with what its owner says of it.
type Server struct {
	// Connection has the server's host:port as Endpoint, and user name and password
	// as AccessKeyID and Secret. Without a user name nobody is authenticated.
	Connection sending.Connection
	// Identities are the addresses and domains to send from; a domain covers those
	// below it. With none, the server alone judges senders.
	Identities []string
	// Max24HourSend is how many recipients a day may have, MaxSendRate how many
	// messages a second. Zero is no limit of ours.
	Max24HourSend, MaxSendRate int64
}

// Consent keeps the contact list, which no SMTP server has. It fails as the port
// does; the simulated account is one.
type Consent interface {
	ContactList(ctx context.Context, orgID string) (sending.ContactList, error)
	Contact(ctx context.Context, orgID, email string) (sending.Contact, error)
	Contacts(ctx context.Context, orgID, token string) (page []sending.Contact, next string, err error)
	PutContact(ctx context.Context, orgID string, c sending.Contact) error
	DeleteContact(ctx context.Context, orgID, email string) error
}

// Config is what the adapter is made of. Only Server is required.
type Config struct {
	// Server finds an organization's server. It fails with NotConnected, as a
	// *sending.Failure, when there is none.
	Server func(ctx context.Context, orgID string) (Server, error)
	// Consent keeps topics and contacts. Without it there is no list.
	Consent Consent

	// Clock dates messages and counts the quota. nil is core.SystemClock.
	Clock core.Clock
	// CallTimeout is the deadline every call has of its own. Zero is 30 seconds.
	CallTimeout time.Duration
	// IdleTimeout is how long an unused connection is kept. Zero is 30 seconds.
	IdleTimeout time.Duration
	// Roots verify certificates. nil are the machine's.
	Roots *x509.CertPool
	// Dial opens connections. nil dials the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Hostname is how we greet, by default "localhost".
	Hostname string
}

const (
	defaultCallTimeout = 30 * time.Second
	defaultIdleTimeout = 30 * time.Second
)

// SMTP is the sending account of every organization that has an SMTP server. It is
// safe for concurrent use.
type SMTP struct {
	cfg Config

	mu       sync.Mutex
	closed   bool
	outboxes map[string]*outbox // by organization
}

// New makes the adapter. It connects to nothing before the first message.
func New(cfg Config) *SMTP {
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	if cfg.CallTimeout <= 0 {
		cfg.CallTimeout = defaultCallTimeout
	}
	if cfg.IdleTimeout <= 0 {
		cfg.IdleTimeout = defaultIdleTimeout
	}
	if cfg.Dial == nil {
		cfg.Dial = new(net.Dialer).DialContext
	}
	if cfg.Hostname == "" {
		cfg.Hostname = "localhost"
	}
	return &SMTP{cfg: cfg, outboxes: map[string]*outbox{}}
}

// Close ends connections that are kept open, and keeps none from now on. Messages
// under way are not called off.
func (s *SMTP) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, o := range s.outboxes {
		o.connections.close()
	}
	return nil
}

// server finds the organization's server, or fails as the port does.
func (s *SMTP) server(ctx context.Context, orgID string) (Server, error) {
	if err := ctx.Err(); err != nil {
		return Server{}, failed(sending.TimedOut, err)
	}
	server, err := s.cfg.Server(ctx, orgID)
	if err != nil {
		if _, ok := errors.AsType[*sending.Failure](err); ok {
			return Server{}, err
		}
		if ctx.Err() != nil {
			return Server{}, failed(sending.TimedOut, err)
		}
		return Server{}, failed(sending.Refused, err)
	}
	if server.Connection.Provider != sending.SMTP {
		return Server{}, failed(sending.NotConnected, errors.New("smtp: the organization's account is of another kind"))
	}
	if _, err := endpointOf(server.Connection.Endpoint); err != nil {
		return Server{}, failed(sending.Refused, err)
	}
	return server, nil
}

// outbox is what is remembered of an organization.
func (s *SMTP) outbox(orgID string) *outbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.outboxes[orgID]
	if o == nil {
		o = &outbox{connections: newPool(s.cfg.IdleTimeout)}
		if s.closed {
			o.connections.close()
		}
		s.outboxes[orgID] = o
	}
	return o
}

type outbox struct {
	connections *pool
	allowance   allowance
}

// endpoint is where a server is.
type endpoint struct {
	address, host string
	implicitTLS   bool
	loopback      bool
}

func endpointOf(address string) (endpoint, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" || hasControl(address) {
		return endpoint{}, fmt.Errorf("smtp: the server's address %q is no host:port", address)
	}
	ip := net.ParseIP(host)
	return endpoint{
		address: address, host: host, implicitTLS: port == "465",
		loopback: host == "localhost" || ip != nil && ip.IsLoopback(),
	}, nil
}
