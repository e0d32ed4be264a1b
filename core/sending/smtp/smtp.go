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

// Server is an organization's SMTP server with the limits that the organization
// configured.
type Server struct {
	// Connection has the server's host:port as Endpoint, and user name and password as
	// AccessKeyID and Secret. Without a user name, the session is not authenticated.
	Connection sending.Connection
	// Identities are the addresses and domains to send from. A domain includes its
	// subdomains. When empty, only the server checks senders.
	Identities []string
	// Max24HourSend is the most recipients in 24 hours. MaxSendRate is the most
	// messages in a second. Zero means no limit.
	Max24HourSend, MaxSendRate int64
	// ImplicitTLS begins with TLS on ports other than 465 too.
	ImplicitTLS bool
}

// Consent stores the contact list, because SMTP servers have none. It fails with a
// *sending.Failure. The simulated account implements it.
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

// Config configures the adapter. Only Server is required, and [SMTP.Open] does not need
// it.
type Config struct {
	// Server returns an organization's server. It fails with NotConnected, as a
	// *sending.Failure, when the organization has none. nil always fails so.
	Server func(ctx context.Context, orgID string) (Server, error)
	// Consent stores topics and contacts. With nil, accounts have no contact list.
	Consent Consent

	// Clock dates messages and counts the quota; nil means core.SystemClock.
	Clock core.Clock
	// CallTimeout is the deadline of each call; zero means 30 seconds.
	CallTimeout time.Duration
	// IdleTimeout is how long an unused connection is kept; zero means 30 seconds.
	IdleTimeout time.Duration
	// Roots verify certificates; nil means those of the machine.
	Roots *x509.CertPool
	// Dial opens connections; nil means the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Networks are private networks that connections without MayReachPrivate may reach,
	// in addition to public addresses.
	Networks []netip.Prefix
	// Hostname is the name in our greeting; "" means "localhost".
	Hostname string
}

const (
	defaultCallTimeout = 30 * time.Second
	defaultIdleTimeout = 30 * time.Second
)

// SMTP is the sending account of every organization with an SMTP server. It is safe for
// concurrent use.
type SMTP struct {
	cfg   Config
	boxes *outboxes
}

// outboxes holds the state of all organizations.
type outboxes struct {
	idleTimeout time.Duration

	mu     sync.Mutex
	closed bool
	byOrg  map[string]*outbox
}

// New returns the adapter. It opens no connection before the first message.
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

// Open returns the account of a connection. All accounts of one adapter share their
// organizations' state, such as the count of sent messages, and end with its Close.
// Without MayReachPrivate, the account reaches only public addresses and
// Config.Networks.
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
	return newFailure(sending.NotConnected, errors.New("smtp: the organization has no server"))
}

// Close closes idle connections and keeps no further ones. It does not interrupt
// messages in progress.
func (s *SMTP) Close() error {
	s.boxes.mu.Lock()
	defer s.boxes.mu.Unlock()
	s.boxes.closed = true
	for _, o := range s.boxes.byOrg {
		o.connections.close()
	}
	return nil
}

// server returns the organization's server. It fails with a *sending.Failure.
func (s *SMTP) server(ctx context.Context, orgID string) (Server, error) {
	if err := ctx.Err(); err != nil {
		return Server{}, newFailure(sending.TimedOut, err)
	}
	server, err := s.cfg.Server(ctx, orgID)
	if err != nil {
		if _, ok := errors.AsType[*sending.Failure](err); ok {
			return Server{}, err
		}
		if ctx.Err() != nil {
			return Server{}, newFailure(sending.TimedOut, err)
		}
		return Server{}, newFailure(sending.Refused, err)
	}
	if server.Connection.Provider != sending.SMTP {
		return Server{}, newFailure(sending.NotConnected, errors.New("smtp: the organization's account is of another kind"))
	}
	if _, err := endpointOf(server.Connection.Endpoint); err != nil {
		return Server{}, newFailure(sending.Refused, err)
	}
	return server, nil
}

// outboxOf returns the state of an organization, and creates it on the first call.
func (b *outboxes) outboxOf(orgID string) *outbox {
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

// endpoint is the address of a server.
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
