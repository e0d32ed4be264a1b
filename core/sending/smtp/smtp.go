package smtp

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
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
	// ImplicitTLS begins with TLS also on another port than 465.
	ImplicitTLS bool
}

// Consent keeps the contact list, which no SMTP server has. It fails as the port
// does; the simulated account is one.
type Consent interface {
	ContactList(ctx context.Context, orgID string) (sending.ContactList, error)
	EnsureContactList(ctx context.Context, orgID string) error
	ChangeTopics(ctx context.Context, orgID string, change sending.TopicsChange) error
	Contact(ctx context.Context, orgID, email string) (sending.Contact, error)
	Contacts(ctx context.Context, orgID, token string) (page []sending.Contact, next string, err error)
	PutContact(ctx context.Context, orgID string, c sending.Contact) error
	PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) ([]*sending.Failure, error)
	DeleteContact(ctx context.Context, orgID, email string) error
}

// Config is what the adapter is made of. Only Server is required, and not even that
// for [SMTP.Open].
type Config struct {
	// Server finds an organization's server. It fails with NotConnected, as a
	// *sending.Failure, when there is none. nil finds none.
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
	// Networks are where servers may be that only public addresses lead to otherwise:
	// those of a [sending.Connection] without MayReachPrivate.
	Networks []netip.Prefix
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
	cfg   Config
	boxes *outboxes
}

// outboxes are what is remembered of organizations.
type outboxes struct {
	idleTimeout time.Duration

	mu     sync.Mutex
	closed bool
	byOrg  map[string]*outbox
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
	if cfg.Server == nil {
		cfg.Server = func(context.Context, string) (Server, error) { return Server{}, noServer() }
	}
	return &SMTP{cfg: cfg, boxes: &outboxes{idleTimeout: cfg.IdleTimeout, byOrg: map[string]*outbox{}}}
}

// Open is the account of a connection. All accounts that one adapter opens share
// what it remembers of their organizations, such as how much was sent, and end with
// its Close. A connection without MayReachPrivate leads to public addresses alone.
func (s *SMTP) Open(c sending.Connection) (sending.Account, error) {
	if _, err := endpointOf(c.Endpoint); err != nil {
		return nil, err
	}
	server := Server{Connection: c, Identities: c.Identities, Max24HourSend: c.Max24HourSend, MaxSendRate: c.MaxSendRate}
	cfg := s.cfg
	cfg.Server = func(_ context.Context, orgID string) (Server, error) {
		if orgID != c.OrgID {
			return Server{}, noServer()
		}
		return server, nil
	}
	if !c.MayReachPrivate {
		cfg.Dial = guardedDialer(s.cfg.Networks).DialContext
	}
	return &SMTP{cfg: cfg, boxes: s.boxes}, nil
}

func noServer() *sending.Failure {
	return failed(sending.NotConnected, errors.New("smtp: the organization has no server"))
}

// Close ends connections that are kept open, and keeps none from now on. Messages
// under way are not called off.
func (s *SMTP) Close() error {
	s.boxes.mu.Lock()
	defer s.boxes.mu.Unlock()
	s.boxes.closed = true
	for _, o := range s.boxes.byOrg {
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

// of is what is remembered of an organization.
func (b *outboxes) of(orgID string) *outbox {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.byOrg[orgID]
	if o == nil {
		o = &outbox{connections: newPool(b.idleTimeout)}
		if b.closed {
			o.connections.close()
		}
		b.byOrg[orgID] = o
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
