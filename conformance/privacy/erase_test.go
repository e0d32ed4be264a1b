package privacy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an organization with two canaries, and another organization with the first one.
type world struct {
	planted
	*privacy.Privacy
	objects             *deletedObjects
	journal             *journal
	account             string // the file of the simulated account
	erased, kept, other canary
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	org, foreign := core.NewID(), core.NewID()
	w := &world{planted: newPlanted(t, db), objects: &deletedObjects{}, journal: &journal{}, account: filepath.Join(t.TempDir(), "account.db")}
	w.erased, w.kept, w.other = newCanary(org, "alpha"), newCanary(org, "bravo"), newCanary(foreign, "alpha")
	w.other.marker = "zyx-other"
	account, err := simulator.Open(w.account, simulator.Options{})
	must(t, err)
	t.Cleanup(func() { _ = account.Close() })
	for _, o := range []string{org, foreign} {
		w.plantParents(t, o)
		must(t, account.Seed(t.Context(), o, simulator.Setup{
			List:     &sending.ContactList{Name: "contacts", Topics: []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptIn}}},
			Contacts: []sending.Contact{{Email: w.erased.email}, {Email: w.kept.email}}, Suppressed: []sending.Suppressed{{Email: w.erased.email, Reason: sending.SuppressedByBounce}},
		}))
	}
	for _, c := range []canary{w.erased, w.kept, w.other} {
		w.plant(t, c)
	}
	// The inbox of the mail of the erased person counts its bytes.
	w.insert(t, canary{org: org, marker: w.erased.marker}, "inboxes", map[string]string{"id": unrelated(w.erased)})
	w.Privacy = privacy.New(privacy.Config{
		Store: db.Privacy(), Tombstones: db.Privacy(), Hasher: privacy.NewHasher(bytes.Repeat([]byte{1}, privacy.KeyBytes)), Account: account, Objects: w.objects,
		Runs: workflows.NewTimerStore(db.DB), Audit: db.Audit(), Transactor: db, Journal: w.journal, Clock: func() time.Time { return now },
	})
	return w
}

// TestCanaryIsErased erases a person who is in every table of the register. Then no table of the
// database contains the person's address, contact or other data, the rows of another person and
// of another organization are unchanged, and the sending account has forgotten the address.
func TestCanaryIsErased(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		before := w.dump(t)
		report, err := w.Count(t.Context(), w.erased.org, "ALPHA.person+x@example.COM")
		must(t, err)
		if len(report.Tables) != len(privacy.OfRecipients())-1 { // received_mail is InUse
			for _, table := range privacy.OfRecipients() {
				if !slices.ContainsFunc(report.Tables, func(c privacy.TableCount) bool { return c.Table.Name == table.Name }) {
					t.Errorf("no rows were found in %s", table.Name)
				}
			}
		}
		if _, err := w.Erase(t.Context(), access.ActorOf(access.Operator), w.erased.org, w.erased.email); core.AsError(err).Code != core.CodeConflict {
			t.Fatalf("erased while mail is processed: %v", err)
		}
		if _, err := w.Writer().ExecContext(t.Context(), "DELETE FROM received_mail"); err != nil {
			t.Fatal(err)
		}
		delete(before, "received_mail")
		report, err = w.Erase(t.Context(), access.ActorOf(access.Operator), w.erased.org, w.erased.email)
		must(t, err)
		if report.Refuses != privacy.Bounced {
			t.Errorf("mail is refused for %q, want the bounce", report.Refuses)
		}
		w.checkErased(t, before)
		again, err := w.Erase(t.Context(), access.ActorOf(access.Operator), w.erased.org, w.erased.email)
		must(t, err)
		if !again.Empty() {
			t.Errorf("a second erasure finds %v", again)
		}
	})
}

func (w *world) checkErased(t *testing.T, before map[string][]string) {
	t.Helper()
	after := w.dump(t)
	others := func(dump map[string][]string) []string {
		return slices.DeleteFunc(mentioning(dump, w.kept.traces()...), func(row string) bool { return strings.Contains(row, w.erased.marker) })
	}
	for _, row := range mentioning(after, w.erased.traces()...) {
		if !strings.Contains(row, w.other.org) {
			t.Errorf("after the erasure there is %s", row)
		}
	}
	if got, want := others(after), others(before); !slices.Equal(got, want) {
		t.Errorf("rows of another person have changed:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got, want := mentioning(after, w.other.org), mentioning(before, w.other.org); !slices.Equal(got, want) {
		t.Errorf("rows of another organization have changed:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Contains(w.objects.deleted, "raw/"+w.erased.marker) || slices.Contains(w.objects.deleted, "raw/"+w.kept.marker) {
		t.Errorf("deleted the objects %q", w.objects.deleted)
	}
	var stored int
	must(t, w.Writer().QueryRowContext(t.Context(), "SELECT stored_bytes FROM inboxes").Scan(&stored))
	if stored != 0 {
		t.Errorf("the inbox counts %d bytes of erased mail", stored)
	}
	w.checkFiles(t)
}

// checkFiles checks that neither the files of the database, if it is SQLite, nor those of the
// simulated account contain remnants of the person.
func (w *world) checkFiles(t *testing.T) {
	t.Helper()
	files := []string{w.account, w.account + "-wal"}
	if w.Dialect() == engine.SQLite {
		var path string
		must(t, w.Writer().QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path))
		files = append(files, path, path+"-wal")
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		must(t, err)
		for _, trace := range []string{w.erased.marker, w.erased.contact} {
			if n := bytes.Count(content, []byte(trace)); n > 0 {
				t.Errorf("%s contains %s %d times", filepath.Base(name), trace, n)
			}
		}
		if strings.HasPrefix(name, w.account) && bytes.Count(bytes.ToLower(content), []byte(w.erased.key())) > 2*addressesOfOther {
			t.Errorf("%s contains the erased address", filepath.Base(name))
		}
	}
}

// addressesOfOther is the number of rows in which the account of the other organization has the
// address: a contact and an entry of the suppression list, each with an index entry.
const addressesOfOther = 4

// TestExport checks that an export contains the data of the person in every table, and not that
// of others, and no secrets.
func TestExport(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		text := exported(t, w.Privacy, w.erased)
		if strings.Contains(text, "Other") || strings.Contains(strings.ToLower(text), w.kept.key()) || strings.Contains(text, w.other.marker) {
			t.Errorf("the export has data of others: %s", text)
		}
		for _, table := range privacy.OfRecipients() {
			for _, c := range table.Data {
				if c.Secret && strings.Contains(text, `"`+c.Name+`"`) {
					t.Errorf("the export has %s of %s", c.Name, table.Name)
				}
			}
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
