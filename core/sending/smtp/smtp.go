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
	// Connection has the server's host:port in Endpoint, and the user name and password in
	// AccessKeyID and Secret. Without a user name, no authentication is made.
	Connection sending.Connection
	// Identities are the addresses and domains that the account may send from. A domain
	// includes its subdomains. If the list is empty, only the SMTP server checks senders.
	Identities []string
	// Max24HourSend is the maximum number of recipients in 24 hours. MaxSendRate is the
	// maximum number of messages in a second. Zero means no limit.
	Max24HourSend, MaxSendRate int64
	// ImplicitTLS starts connections with TLS on any port. If it is false, only connections
	// to port 465 start with TLS.
	ImplicitTLS bool
}

// Consent stores contact lists and consent, because SMTP servers do not. Its methods fail
// with a *sending.Failure. storage/consent implements it.
type Consent interface {
	ContactList(ctx context.Context, orgID string) (sending.ContactList, error)
	EnsureContactList(ctx context.Context, orgID string) error
	ChangeTopics(ctx context.Context, orgID string, change sending.TopicsChange) error
	Contact(ctx context.Context, orgID, email string) (sending.Contact, error)
	Contacts(ctx context.Context, orgID, token string) (page []sending.Contact, next string, err error)
	PutContact(ctx context.Context, orgID string, c sending.Contact) error
	PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) ([]*sending.Failure, error)
	DeleteContact(ctx context.Context, orgID, email string) error
	sending.Eraser
}

// Config configures an SMTP account. All fields are optional. Without Server, messages can
// only be sent through the accounts that [SMTP.Open] returns.
type Config struct {
	// Server returns an organization's SMTP server. It fails with a *sending.Failure of kind
	// NotConnected if the organization has none. nil means that no organization has a
	// server.
	Server func(ctx context.Context, orgID string) (Server, error)
	// Consent stores topics and contacts. If it is nil, accounts have no contact list.
	Consent Consent

	// Clock gives the dates of messages and the time for the quota; nil means
	// core.SystemClock.
	Clock core.Clock
	// CallTimeout is the deadline of each method call; zero means 30 seconds.
	CallTimeout time.Duration
	// IdleTimeout is how long an unused connection stays open; zero means 30 seconds.
	IdleTimeout time.Duration
	// Roots are the certificate authorities that verify servers; nil means those of the
	// machine.
	Roots *x509.CertPool
	// Dial opens network connections; nil means net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Networks are private networks that every connection may reach. Without
	// MayReachPrivate, a connection reaches only these and public addresses.
	Networks []netip.Prefix
	// Hostname is the name of this machine in the SMTP greeting; "" means "localhost".
	Hostname string
}

const (
	defaultCallTimeout = 30 * time.Second
	defaultIdleTimeout = 30 * time.Second
)

// SMTP is the sending account of every organization with an SMTP server. It is safe for
// concurrent use. It has many methods because it implements the whole interface
// [sending.Account].
type SMTP struct {
	cfg   Config
	boxes *outboxes
}

// outboxes has the open connections and the counts of sent messages of all organizations.
type outboxes struct {
	idleTimeout time.Duration

	mu     sync.Mutex
	closed bool
	byOrg  map[string]*outbox
}

// New returns an SMTP account. It opens no connection before a message is sent or Probe is
// called.
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

// Open returns the account of one organization's connection. All accounts that an SMTP
// opens share one state for each organization, such as the count of sent messages. Closing
// the SMTP closes the connections of all these accounts. Without MayReachPrivate, the
// account reaches only public addresses and Config.Networks.
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

// Close closes idle connections. Connections in use are closed after their message.
func (s *SMTP) Close() error {
	s.boxes.mu.Lock()
	defer s.boxes.mu.Unlock()
	s.boxes.closed = true
	for _, o := range s.boxes.byOrg {
		o.connections.close()
	}
	return nil
}

// server returns the organization's SMTP server. It fails with a *sending.Failure:
// NotConnected if there is none, Refused if its address is malformed.
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

// outboxOf returns the outbox of an organization: its SMTP connections and the counts of
// its sent messages. It creates the outbox on the first call.
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

// endpoint is the parsed address of an SMTP server. loopback is true if the address is on
// this machine.
type endpoint struct {
	address, host string
	implicitTLS   bool
	loopback      bool
}

func endpointOf(address string) (endpoint, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" || hasControl(address) {
		return endpoint{}, fmt.Errorf("smtp: the server's address %q is not host:port", address)
	}
	ip := net.ParseIP(host)
	return endpoint{
		address: address, host: host, implicitTLS: port == "465",
		loopback: host == "localhost" || ip != nil && ip.IsLoopback(),
	}, nil
}
