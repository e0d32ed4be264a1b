package accounts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/consent"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// machine is a server with a data folder of its own.
type machine struct {
	Consent
	cfg         config.Config
	connections sending.Connections
	account     *sending.Accounts
}

func newMachine(t *testing.T, db *storage.DB) *machine {
	t.Helper()
	master, err := signing.NewMasterKey(make([]byte, 32))
	must(t, err)
	m := &machine{cfg: config.Config{DataDir: t.TempDir(), DatabaseURL: "of the test"}, connections: db.Connections(master)}
	embedded, err := simulator.Open(m.cfg.AccountFile(), simulator.Options{})
	must(t, err)
	t.Cleanup(func() { _ = embedded.Close() })
	m.Consent = NewConsent(db.DB, embedded, nil)
	adapters, err := NewAdapters(m.cfg, m.Consent)
	must(t, err)
	t.Cleanup(func() { _ = adapters.Close() })
	m.account = sending.NewAccounts(sending.AccountsConfig{
		Connections: m.connections, Otherwise: embedded, Open: adapters.Open, Prepare: Prepare(m.cfg, embedded, m.Consent),
	})
	return m
}

// connect stores a connection of the organization to an SMTP server.
func (m *machine) connect(t *testing.T, orgID string) {
	t.Helper()
	must(t, m.connections.SaveConnection(t.Context(), sending.Connection{OrgID: orgID, Provider: sending.SMTP, Endpoint: "127.0.0.1:1", MayReachPrivate: true, IngestPath: orgID, CreatedAt: start, UpdatedAt: time.Now()}))
	m.account.Forget(orgID)
}

// keep stores a list with contacts in the file of the machine, as earlier versions did.
func (m *machine) keep(t *testing.T, orgID string, contacts ...sending.Contact) {
	t.Helper()
	list := sending.ContactList{Name: "people", Description: "All", Topics: []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptIn}}}
	must(t, m.embedded.Seed(t.Context(), orgID, simulator.Setup{List: &list, Contacts: contacts}))
}

// inFile reports whether the file of the machine or its log has the text.
func (m *machine) inFile(t *testing.T, text string) bool {
	t.Helper()
	for _, name := range []string{m.cfg.AccountFile(), m.cfg.AccountFile() + "-wal"} {
		content, err := os.ReadFile(filepath.Clean(name))
		must(t, err)
		if strings.Contains(string(content), text) {
			return true
		}
	}
	return false
}

var (
	optedOut = sending.Contact{Email: "Ada@example.com", Preferences: map[string]sending.Subscription{"news": sending.OptOut}, UpdatedAt: start}
	stopped  = sending.Contact{Email: "gone@example.com", UnsubscribeAll: true, Preferences: map[string]sending.Subscription{}, UpdatedAt: start}
)

// TestListsOfFilesMoveOnce starts four processes with one data folder at once. The list of an SMTP
// account must be in the database as it was in the file, and no longer in the file. The list of a
// simulated account must stay there.
func TestListsOfFilesMoveOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		m := newMachine(t, db)
		orgID, simulated := core.NewID(), core.NewID()
		m.connect(t, orgID)
		m.keep(t, orgID, optedOut, stopped)
		m.keep(t, simulated, sending.Contact{Email: "stays@example.com"})
		if unmoved, err := m.Unmoved(t.Context()); err != nil || len(unmoved) != 1 || unmoved[0] != orgID {
			t.Errorf("lists to move: %v, %v", unmoved, err)
		}
		var processes sync.WaitGroup
		for range 4 {
			processes.Go(func() {
				other, err := simulator.Open(m.cfg.AccountFile(), simulator.Options{})
				if err == nil {
					err = errors.Join(NewConsent(db.DB, other, nil).MoveAll(t.Context()), other.Close())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		processes.Wait()
		page, _, err := m.account.Contacts(t.Context(), orgID, "")
		if diff := cmp.Diff([]sending.Contact{optedOut, stopped}, page); err != nil || diff != "" {
			t.Errorf("%v, contacts (-want +got):\n%s", err, diff)
		}
		if list, err := m.account.ContactList(t.Context(), orgID); err != nil || list.Description != "All" || len(list.Topics) != 1 || list.Topics[0].DisplayName != "News" {
			t.Errorf("the list is %+v, %v", list, err)
		}
		if m.inFile(t, "gone@example.com") || !m.inFile(t, "stays@example.com") {
			t.Error("the file has the list of the SMTP account, or lacks that of the simulated one")
		}
		if page, _, err := m.account.Contacts(t.Context(), simulated, ""); err != nil || len(page) != 1 {
			t.Errorf("the simulated account has %v, %v", page, err)
		}
	})
}

// TestAnInterruptedMoveEndsLater ends a move after its commit in the database and before the
// deletion in the file, as a killed process does. The person who was erased in the meantime must
// not come back, and a consent that was changed must stay changed.
func TestAnInterruptedMoveEndsLater(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		m := newMachine(t, db)
		orgID := core.NewID()
		m.keep(t, orgID, optedOut, stopped)
		killed := errors.New("killed")
		err := m.embedded.HandOver(t.Context(), orgID, func(ctx context.Context, list simulator.HandedOver) error {
			hash, _, err := hashList(list)
			must(t, err)
			must(t, m.Adopt(ctx, orgID, consent.Moved{List: list.ContactList, Hash: hash, Contacts: list.Contacts}))
			return killed
		})
		if !errors.Is(err, killed) {
			t.Fatal(err)
		}
		must(t, m.Store.EraseAddress(t.Context(), orgID, stopped.Email))
		must(t, m.PutContact(t.Context(), orgID, sending.Contact{Email: optedOut.Email, UnsubscribeAll: true}))
		m.connect(t, orgID)
		if c, err := m.account.Contact(t.Context(), orgID, optedOut.Email); err != nil || !c.UnsubscribeAll { // the first use moves it
			t.Errorf("the contact is %+v, %v", c, err)
		}
		if _, err := m.account.Contact(t.Context(), orgID, stopped.Email); !sending.IsNotFound(err) {
			t.Errorf("an erased contact is back: %v", err)
		}
		if m.inFile(t, stopped.Email) {
			t.Error("the file still has the list")
		}
	})
}

// TestMovesStayOutOfTransactions moves a list in a transaction that is rolled back. The list must
// stay in the file.
func TestMovesStayOutOfTransactions(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	m := newMachine(t, db)
	m.keep(t, "org", optedOut)
	must(t, db.InTx(t.Context(), func(ctx context.Context) error {
		if err := m.Move(ctx, "org"); !errors.Is(err, errInTransaction) {
			t.Errorf("moved in a transaction: %v", err)
		}
		return nil
	}))
	must(t, m.Move(t.Context(), "org"))
	if c, err := m.Contact(t.Context(), "org", optedOut.Email); err != nil || c.Preferences["news"] != sending.OptOut {
		t.Errorf("moved %+v, %v", c, err)
	}
}

// TestMachinesShareConsent uses the SMTP account of an organization on two machines with one
// database, each with its own data folder. What one writes, the other must read at once. The list
// that the second machine still has in a file must complete the first one's.
func TestMachinesShareConsent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		first, second := newMachine(t, db), newMachine(t, db)
		orgID := core.NewID()
		second.keep(t, orgID, stopped, optedOut)
		first.connect(t, orgID)
		must(t, first.EnsureContactList(t.Context(), orgID))
		must(t, first.account.PutContact(t.Context(), orgID, sending.Contact{Email: optedOut.Email, UnsubscribeAll: true}))
		if c, err := second.account.Contact(t.Context(), orgID, optedOut.Email); err != nil || !c.UnsubscribeAll {
			t.Errorf("the second machine reads %+v, %v", c, err)
		}
		if c, err := first.account.Contact(t.Context(), orgID, stopped.Email); err != nil || !c.UnsubscribeAll {
			t.Errorf("the first machine reads %+v, %v", c, err)
		}
		if second.inFile(t, stopped.Email) {
			t.Error("the second machine still has the list in its file")
		}
		must(t, second.account.EraseAddress(t.Context(), orgID, stopped.Email))
		if _, err := first.account.Contact(t.Context(), orgID, stopped.Email); !sending.IsNotFound(err) {
			t.Errorf("erased on the second machine, the first reads: %v", err)
		}
	})
}
