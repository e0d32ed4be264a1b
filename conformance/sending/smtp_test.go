package sending_test

import (
	"io"
	"net"
	"sync"
	"testing"

	server "github.com/emersion/go-smtp"
	conformance "github.com/mailhelm/mailhelm/conformance/sending"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSMTP runs the tests of package conformance/sending for the SMTP adapter with a real
// SMTP server. Each organization has a stored connection, as in the product.
func TestSMTP(t *testing.T) {
	t.Parallel()
	conformance.RunSMTP(t, func(t *testing.T) conformance.Subject {
		s := newServed(t)
		return conformance.Subject{
			Account: s.accounts, Seed: s.seed,
			Restart: func(t *testing.T) sending.Account {
				t.Helper()
				s.restart(t)
				s.open(t)
				return s.accounts
			},
		}
	})
}

// realServer is a real SMTP server with the connections and accounts of the organizations
// that send through it. The embedded engine stores the contact lists, because SMTP
// servers have none.
type realServer struct {
	*engine
	address     string
	connections sending.Connections
	accounts    *sending.Accounts
}

func newServed(t *testing.T) *realServer {
	t.Helper()
	master, err := signing.NewMasterKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &realServer{engine: newEngine(t), address: listen(t), connections: storagetest.SQLite(t).Connections(master)}
	s.open(t)
	return s
}

func (s *realServer) open(t *testing.T) {
	t.Helper()
	adapter := smtp.New(smtp.Config{Consent: s.Simulator, Clock: s.clock})
	t.Cleanup(func() { _ = adapter.Close() })
	s.accounts = sending.NewAccounts(sending.AccountsConfig{
		Connections: s.connections, Otherwise: s.Simulator, Clock: s.clock,
		Open: map[sending.Provider]sending.Open{sending.SMTP: adapter.Open},
	})
}

func (s *realServer) seed(t *testing.T, orgID string, setup conformance.Setup) {
	t.Helper()
	if err := s.Seed(t.Context(), orgID, simulator.Setup{List: setup.List, Contacts: setup.Contacts}); err != nil {
		t.Fatal(err)
	}
	c := sending.Connection{
		OrgID: orgID, Provider: sending.SMTP, Endpoint: s.address, MayReachPrivate: true, IngestPath: orgID,
		Max24HourSend: setup.Overview.Max24HourSend, MaxSendRate: setup.Overview.MaxSendRate, CreatedAt: s.clock(), UpdatedAt: s.clock(),
	}
	for _, one := range setup.Identities {
		c.Identities = append(c.Identities, one.Identity)
	}
	if err := s.connections.SaveConnection(t.Context(), c); err != nil {
		t.Fatal(err)
	}
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
