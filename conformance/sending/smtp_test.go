package sending_test

import (
	"cmp"
	"context"
	"io"
	"iter"
	"net"
	"slices"
	"sync"
	"testing"

	server "github.com/emersion/go-smtp"
	conformance "github.com/mailhelm/mailhelm/conformance/sending"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/consent"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSMTP runs the tests of package conformance/sending for the SMTP adapter with a real
// SMTP server. The database has the connection and the contact list of each organization, as in
// the product.
func TestSMTP(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		conformance.RunSMTP(t, func(t *testing.T) conformance.Subject {
			s := newServed(t, db)
			return conformance.Subject{
				Account: s.accounts, Seed: s.seed,
				Restart: func(t *testing.T) sending.Account {
					t.Helper()
					s.open(t)
					return s.accounts
				},
			}
		})
	})
}

// realServer is a real SMTP server with the connections and accounts of the organizations
// that send through it. All tests use one database, in which each has its own organizations.
type realServer struct {
	stored   storedConnections
	consent  ownConsent
	ticks    ticks
	address  string
	accounts *sending.Accounts
}

func newServed(t *testing.T, db *storage.DB) *realServer {
	t.Helper()
	master, err := signing.NewMasterKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &realServer{address: listen(t)}
	prefix := t.Name() + " "
	s.stored = storedConnections{db.Connections(master), prefix}
	s.consent = ownConsent{consent.New(db.DB, s.ticks.clock), prefix}
	s.open(t)
	return s
}

// storedConnections has the connections of a test's organizations. prefix completes their ids in
// the database.
type storedConnections struct {
	sending.Connections
	prefix string
}

func (c storedConnections) Connection(ctx context.Context, orgID string) (sending.Connection, error) {
	found, err := c.Connections.Connection(ctx, c.prefix+orgID)
	found.OrgID = orgID
	return found, err
}

// ownConsent has the contact lists of a test's organizations; see storedConnections.
type ownConsent struct {
	store  consent.Store
	prefix string
}

func (c ownConsent) ContactList(ctx context.Context, orgID string) (sending.ContactList, error) {
	return c.store.ContactList(ctx, c.prefix+orgID)
}

func (c ownConsent) EnsureContactList(ctx context.Context, orgID string) error {
	return c.store.EnsureContactList(ctx, c.prefix+orgID)
}

func (c ownConsent) ChangeTopics(ctx context.Context, orgID string, change sending.TopicsChange) error {
	return c.store.ChangeTopics(ctx, c.prefix+orgID, change)
}

func (c ownConsent) Contact(ctx context.Context, orgID, email string) (sending.Contact, error) {
	return c.store.Contact(ctx, c.prefix+orgID, email)
}

func (c ownConsent) Contacts(ctx context.Context, orgID, token string) ([]sending.Contact, string, error) {
	return c.store.Contacts(ctx, c.prefix+orgID, token)
}

func (c ownConsent) PutContact(ctx context.Context, orgID string, contact sending.Contact) error {
	return c.store.PutContact(ctx, c.prefix+orgID, contact)
}

func (c ownConsent) PutContacts(ctx context.Context, orgID string, contacts []sending.Contact) ([]*sending.Failure, error) {
	return c.store.PutContacts(ctx, c.prefix+orgID, contacts)
}

func (c ownConsent) DeleteContact(ctx context.Context, orgID, email string) error {
	return c.store.DeleteContact(ctx, c.prefix+orgID, email)
}

func (c ownConsent) EraseAddress(ctx context.Context, orgID, email string) error {
	return c.store.EraseAddress(ctx, c.prefix+orgID, email)
}

func (s *realServer) open(t *testing.T) {
	t.Helper()
	adapter := smtp.New(smtp.Config{Consent: s.consent, Clock: s.ticks.clock})
	t.Cleanup(func() { _ = adapter.Close() })
	s.accounts = sending.NewAccounts(sending.AccountsConfig{
		Connections: s.stored, Otherwise: newEngine(t), Clock: s.ticks.clock,
		Open: map[sending.Provider]sending.Open{sending.SMTP: adapter.Open},
	})
}

func (s *realServer) seed(t *testing.T, orgID string, setup conformance.Setup) {
	t.Helper()
	if setup.List != nil {
		now := s.ticks.clock()
		list := *setup.List
		list.UpdatedAt = now
		for i := range setup.Contacts {
			setup.Contacts[i].UpdatedAt = cmp.Or(setup.Contacts[i].UpdatedAt, now)
		}
		must(t, s.consent.store.Adopt(t.Context(), s.consent.prefix+orgID, consent.Moved{List: list, Hash: orgID, Contacts: func() iter.Seq2[[]sending.Contact, error] {
			return func(yield func([]sending.Contact, error) bool) {
				for page := range slices.Chunk(setup.Contacts, sending.MaxContacts) {
					if !yield(page, nil) {
						return
					}
				}
			}
		}}))
	}
	c := sending.Connection{
		OrgID: s.stored.prefix + orgID, Provider: sending.SMTP, Endpoint: s.address, MayReachPrivate: true, IngestPath: s.stored.prefix + orgID,
		Max24HourSend: setup.Overview.Max24HourSend, MaxSendRate: setup.Overview.MaxSendRate, CreatedAt: s.ticks.clock(), UpdatedAt: s.ticks.clock(),
	}
	for _, one := range setup.Identities {
		c.Identities = append(c.Identities, one.Identity)
	}
	must(t, s.stored.SaveConnection(t.Context(), c))
	s.accounts.Forget(orgID)
}

// listen starts an SMTP server that accepts every message, and returns its address.
func listen(t *testing.T) string {
	t.Helper()
	s := server.NewServer(server.BackendFunc(func(*server.Conn) (server.Session, error) { return taker{}, nil }))
	s.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		_, _ = s.Close(), l.Close() // s.Close does not close l if s.Serve has not begun yet
		serving.Wait()
	})
	return l.Addr().String()
}

// taker accepts every message.
type taker struct{}

func (taker) Mail(string, *server.MailOptions) error { return nil }
func (taker) Rcpt(string, *server.RcptOptions) error { return nil }
func (taker) Reset()                                 {}
func (taker) Logout() error                          { return nil }
func (taker) Data(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
