package sending_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// namedAccount is a fake account whose Overview returns the account id. The tests call no
// other method.
type namedAccount struct {
	sending.Account
	id string
}

func (n namedAccount) Overview(context.Context, string) (sending.Overview, error) {
	return sending.Overview{AccountID: n.id}, nil
}

// scene is a test setup: an Accounts with connections in a real database, a clock that the
// test sets, and a count of opened accounts.
type scene struct {
	*sending.Accounts
	db      *storage.DB
	stored  sending.Connections
	now     time.Time
	mu      sync.Mutex
	openeds int
}

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func newScene(t testing.TB, otherwise sending.Account) *scene {
	t.Helper()
	master, err := signing.NewMasterKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{db: storagetest.SQLite(t), now: start}
	s.stored = s.db.Connections(master)
	s.Accounts = sending.NewAccounts(sending.AccountsConfig{
		Connections: s.stored, Otherwise: otherwise, Clock: func() time.Time { return s.now },
		Open: map[sending.Provider]sending.Open{sending.SES: func(c sending.Connection) (sending.Account, error) {
			if c.Region == "nowhere" {
				return nil, errors.New("there is no such region")
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.openeds++
			return namedAccount{id: c.AccountID + c.Secret}, nil
		}},
	})
	return s
}

func (s *scene) connect(t *testing.T, c sending.Connection) {
	t.Helper()
	c.IngestPath, c.CreatedAt, c.UpdatedAt = c.OrgID, s.now, s.now
	if err := s.stored.SaveConnection(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func (s *scene) wantAccount(t *testing.T, orgID, id string) {
	t.Helper()
	if o, err := s.Overview(t.Context(), orgID); err != nil || o.AccountID != id {
		t.Errorf("%s has %q, %v, want %q", orgID, o.AccountID, err, id)
	}
}

func (s *scene) wantFailure(t *testing.T, ctx context.Context, orgID string, kind sending.FailureKind) {
	t.Helper()
	_, err := s.Overview(ctx, orgID)
	if f, ok := errors.AsType[*sending.Failure](err); !ok || f.Kind != kind {
		t.Errorf("%s fails with %v, want %s", orgID, err, kind)
	}
}

func TestEachOrganizationHasItsAccount(t *testing.T) {
	t.Parallel()
	s := newScene(t, namedAccount{id: "embedded"})
	s.connect(t, sending.Connection{OrgID: "ses", Provider: sending.SES, AccountID: "one", Secret: "-secret"})
	s.connect(t, sending.Connection{OrgID: "simulated", Provider: sending.Simulated})
	s.connect(t, sending.Connection{OrgID: "smtp", Provider: sending.SMTP})
	s.connect(t, sending.Connection{OrgID: "wrong", Provider: sending.SES, Region: "nowhere"})
	for range 3 {
		s.wantAccount(t, "ses", "one-secret")
		s.wantAccount(t, "simulated", "embedded")
		s.wantAccount(t, "unconnected", "embedded")
		s.wantFailure(t, t.Context(), "smtp", sending.Unsupported)
		s.wantFailure(t, t.Context(), "wrong", sending.Refused)
		s.now = s.now.Add(time.Minute)
	}
	if s.openeds != 1 {
		t.Errorf("an account whose connection stayed the same was opened %d times", s.openeds)
	}
}

func TestChangesApplyWithinSeconds(t *testing.T) {
	t.Parallel()
	s := newScene(t, namedAccount{id: "embedded"})
	s.wantAccount(t, "org", "embedded")
	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "one"})
	s.wantAccount(t, "org", "embedded")
	s.now = s.now.Add(3 * time.Second)
	s.wantAccount(t, "org", "one")

	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "two"})
	s.wantAccount(t, "org", "one")
	s.Forget("org")
	s.wantAccount(t, "org", "two")
	s.now = s.now.Add(-time.Hour) // after the clock was set back, a cached account must not be used
	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "three"})
	s.wantAccount(t, "org", "three")

	if err := s.stored.DeleteConnection(t.Context(), "org"); err != nil {
		t.Fatal(err)
	}
	s.now = s.now.Add(3 * time.Second)
	s.wantAccount(t, "org", "embedded")
}

func TestConnectionsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newScene(t, namedAccount{id: "embedded"})
	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "one"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.wantFailure(t, ended, "org", sending.TimedOut)
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	// The database is away, so callers may try again; the account refused nothing.
	s.wantFailure(t, t.Context(), "org", sending.Throttled)
}

// hanging is a fake store whose reads of a connection return only when their context ends.
type hanging struct{ sending.Connections }

func (hanging) Connection(ctx context.Context, _ string) (sending.Connection, error) {
	<-ctx.Done()
	return sending.Connection{}, context.Cause(ctx)
}

// TestAccountsArePrepared checks that an account is prepared before its first use, again after its
// connection changed, and after a failure, which the caller gets.
func TestAccountsArePrepared(t *testing.T) {
	t.Parallel()
	s := newScene(t, namedAccount{id: "embedded"})
	var prepared []string
	var failure error
	s.Accounts = sending.NewAccounts(sending.AccountsConfig{
		Connections: s.stored, Otherwise: namedAccount{id: "embedded"}, Clock: func() time.Time { return s.now },
		Open: map[sending.Provider]sending.Open{sending.SES: func(sending.Connection) (sending.Account, error) { return namedAccount{id: "ses"}, nil }},
		Prepare: func(_ context.Context, orgID string, provider sending.Provider) error {
			prepared = append(prepared, orgID+" "+string(provider))
			return failure
		},
	})
	failure = &sending.Failure{Kind: sending.Throttled, Err: errors.New("busy")}
	if _, err := s.Overview(t.Context(), "org"); !errors.Is(err, failure) {
		t.Errorf("not prepared: %v", err)
	}
	failure = nil
	s.wantAccount(t, "org", "embedded")
	s.now = s.now.Add(time.Minute)
	s.wantAccount(t, "org", "embedded")
	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES})
	s.now = s.now.Add(time.Minute)
	s.wantAccount(t, "org", "ses")
	if want := []string{"org simulator", "org simulator", "org ses"}; !slices.Equal(prepared, want) {
		t.Errorf("prepared %q, want %q", prepared, want)
	}
}

// TestConnectionsThatHang checks that reading the connection fails with TimedOut after five
// seconds, even if the caller's deadline is an hour.
func TestConnectionsThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		accounts := sending.NewAccounts(sending.AccountsConfig{Connections: hanging{}, Otherwise: namedAccount{id: "embedded"}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := accounts.Overview(ctx, "org")
		f, ok := errors.AsType[*sending.Failure](err)
		if took := time.Since(began); !ok || f.Kind != sending.TimedOut || took != 5*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestManyAtOnceShareAnAccount(t *testing.T) {
	t.Parallel()
	s := newScene(t, namedAccount{id: "embedded"})
	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "one"})
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() { s.wantAccount(t, "org", "one") })
	}
	all.Wait()
	if s.openeds != 1 {
		t.Errorf("opened %d times", s.openeds)
	}
}

// BenchmarkContact measures reading a contact, the most frequent call. It compares calls of
// the simulator with calls of an Accounts that uses the simulator.
func BenchmarkContact(b *testing.B) {
	account := simulatortest.Open(b, simulator.Options{})
	if err := account.Seed(b.Context(), "org", simulator.Setup{
		List: &sending.ContactList{Name: "people"}, Contacts: []sending.Contact{{Email: "ada@example.com"}},
	}); err != nil {
		b.Fatal(err)
	}
	s := newScene(b, account)
	routed := sending.NewAccounts(sending.AccountsConfig{Connections: s.stored, Otherwise: account, Clock: core.SystemClock})
	for name, asked := range map[string]sending.Account{"direct": account, "routed": routed} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := asked.Contact(b.Context(), "org", "ada@example.com"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// changing is a store whose connection changes just after it was read.
type changing struct {
	sending.Connections
	change func()
}

func (c changing) Connection(ctx context.Context, orgID string) (sending.Connection, error) {
	found, err := c.Connections.Connection(ctx, orgID)
	c.change()
	return found, err
}

// TestForgetWhileAConnectionIsRead changes a connection between its read and the use of what was read.
func TestForgetWhileAConnectionIsRead(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "old"})
	once := sync.OnceFunc(func() {
		s.now = s.now.Add(time.Millisecond)
		s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "new"})
		s.Forget("org")
	})
	s.Accounts = sending.NewAccounts(sending.AccountsConfig{
		Connections: changing{s.stored, once}, Clock: func() time.Time { return s.now },
		Open: map[sending.Provider]sending.Open{sending.SES: func(c sending.Connection) (sending.Account, error) { return namedAccount{id: c.AccountID}, nil }},
	})
	s.wantAccount(t, "org", "old")
	s.wantAccount(t, "org", "new")
}

// TestForgottenAccountStaysOpen forgets an account whose connection did not change. It must stay open, because it
// knows how fast the provider lets it send.
func TestForgottenAccountStaysOpen(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	s.connect(t, sending.Connection{OrgID: "org", Provider: sending.SES, AccountID: "one"})
	for range 2 {
		s.wantAccount(t, "org", "one")
		s.Forget("org")
		s.wantAccount(t, "org", "one")
		s.ForgetAll()
	}
	if s.openeds != 1 {
		t.Errorf("opened %d times", s.openeds)
	}
}
