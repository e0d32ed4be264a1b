package persons_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/persons"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/mailhelm/mailhelm/storage/workflows"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	ada = "ada@example.com"
	bob = "bob@example.com"
)

// office is an organization with two contacts and the pages of this package. Ada has opted out.
type office struct {
	*frametest.Office
	db      *storage.DB
	account *simulator.Simulator
	journal journal
	factors people.Factors
	pages   http.Handler
}

// journal counts entries.
type journal struct{ entries []privacy.Entry }

func (j *journal) Append(e privacy.Entry) error { j.entries = append(j.entries, e); return nil }

// noObjects fails the test: the contacts of this test have no received mail.
type noObjects struct{ t *testing.T }

func (n noObjects) DeleteObjects(_ context.Context, _, _ string, keys []string) error {
	n.t.Errorf("objects %q are deleted", keys)
	return nil
}

func newOffice(t *testing.T, db *storage.DB) *office {
	t.Helper()
	o := &office{Office: frametest.NewOffice(t, frametest.DatabaseOf(db)), db: db, factors: people.Factors{Passkeys: []people.Passkey{{}}}}
	var err error
	o.account, err = simulator.Open(filepath.Join(t.TempDir(), "account.db"), simulator.Options{Clock: frametest.Now})
	o.Must(err)
	t.Cleanup(func() { _ = o.account.Close() })
	o.Must(o.account.Seed(t.Context(), o.Org.ID, simulator.Setup{
		List:     &sending.ContactList{Name: "contacts", Topics: []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptIn}}},
		Contacts: []sending.Contact{{Email: ada, UnsubscribeAll: true}, {Email: bob}},
	}))
	for _, email := range []string{ada, bob} {
		o.addContact(email)
	}
	room, err := persons.New(o.Frame, persons.Config{
		Privacy: privacy.New(privacy.Config{
			Store: db.Privacy(), Tombstones: db.Privacy(), Hasher: privacy.NewHasher(bytes.Repeat([]byte{1}, privacy.KeyBytes)), Account: o.account, Objects: noObjects{t},
			Runs: workflows.NewTimerStore(db.DB), Audit: db.Audit(), Transactor: db, Journal: &o.journal, Clock: frametest.Now,
		}),
		Factors: func(context.Context, string) (people.Factors, error) { return o.factors, nil },
		Email: func(ctx context.Context, orgID, id string) (string, error) {
			c, err := db.Contacts().ContactByID(ctx, orgID, id)
			return c.Email, err
		},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func (o *office) addContact(email string) {
	o.T.Helper()
	o.Must(o.db.Contacts().InsertContact(o.T.Context(), o.Org.ID, contacts.Contact{
		ID: core.NewID(), Email: email, Status: contacts.Active, Attributes: map[string]any{}, CreatedAt: frametest.Now(), UpdatedAt: frametest.Now(),
	}))
}

// id returns the id of the contact with an address, "" if there is none.
func (o *office) id(email string) string {
	o.T.Helper()
	found, err := o.db.Contacts().ContactByEmail(o.T.Context(), o.Org.ID, core.EmailKey(email))
	if core.IsNotFound(err) {
		return ""
	}
	o.Must(err)
	return found.ID
}

func (o *office) post(path string, form url.Values) (int, string) {
	o.T.Helper()
	return frametest.Post(o.T, o.pages, o.Site.Visitor, persons.Path+path, form)
}

// actions returns the actions in the audit log that begin with "person.", and their subjects and
// details.
func (o *office) actions() (actions []string, texts string) {
	o.T.Helper()
	events, err := o.db.Audit().FindAudit(o.T.Context(), o.Org.ID, access.AuditFilter{Limit: 100})
	o.Must(err)
	for _, e := range events {
		if strings.HasPrefix(e.Action, "person.") {
			actions, texts = append(actions, e.Action), texts+e.SubjectID+e.Detail
		}
	}
	slices.Sort(actions)
	return actions, texts
}

func form(email string, more ...string) url.Values {
	values := url.Values{"email": {email}}
	for i := 0; i < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	return values
}

func TestPermissionAndSecondFactor(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	all := members.AllPermissions()
	others := make([]members.Permission, 0, len(all))
	for _, p := range all {
		if p != members.MayManagePersons {
			others = append(others, p)
		}
	}
	paths := []string{"", "/export", "/erase", "/allow"}
	check := func(status int, words string) {
		t.Helper()
		for _, path := range paths {
			if got, page := o.post(path, form(ada, "typed", ada)); got != status || !strings.Contains(page, words) || strings.Contains(page, "Messages") {
				t.Errorf("%s: %d %s", path, got, page)
			}
		}
		if o.id(ada) == "" {
			t.Fatal("the person was erased")
		}
	}
	o.Allow(others...)
	check(http.StatusForbidden, "persons.manage")
	o.Allow(members.MayManagePersons)
	o.Site.Unidentified = true
	check(http.StatusSeeOther, "")
	o.Site.Unidentified, o.factors = false, people.Factors{}
	check(http.StatusForbidden, frame.SecurityPath)
	if status, page := frametest.Get(t, o.pages, persons.Path); status != http.StatusOK || !strings.Contains(page, "Add a second factor") {
		t.Errorf("without a second factor: %d %s", status, page)
	}
}

// TestPermissionLostMeanwhile takes the permission away after the first check of the request.
// Then nothing may change, not even at the sending account.
func TestPermissionLostMeanwhile(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		state := func() []any {
			_, err := o.account.Contact(t.Context(), o.Org.ID, ada)
			return []any{o.id(ada), sending.IsAbsent(err), len(o.journal.entries)}
		}
		o.CheckPermissions(o.pages, state, frametest.Form{
			Name: "erase", Needs: members.MayManagePersons, Path: persons.Path + "/erase", Form: form(ada, "typed", ada), Done: http.StatusOK,
		})
		o.CheckPermissions(o.pages, state, frametest.Form{
			Name: "allow", Needs: members.MayManagePersons, Path: persons.Path + "/allow", Form: form(ada), Done: http.StatusOK,
		})
	})
}

func TestExport(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		status, text := o.post("/export", form("Ada@Example.com", "format", "json"))
		var export privacy.Export
		if err := json.Unmarshal([]byte(text), &export); status != http.StatusOK || err != nil || export.Address != ada || len(export.Tables) == 0 || export.Account.Contact == nil {
			t.Errorf("the JSON file: %d, %v, %s", status, err, text)
		}
		status, text = o.post("/export", form(ada, "format", "html"))
		if status != http.StatusOK || !strings.Contains(text, "<h1>Data about "+ada) || strings.Contains(text, bob) {
			t.Errorf("the page: %d, %s", status, text)
		}
		if status, page := o.post("/export", form("carol@example.com")); status != http.StatusNotFound || !strings.Contains(page, "Nothing is stored about this address") {
			t.Errorf("an unknown person: %d, %s", status, page)
		}
		if status, page := o.post("/export", form("carol")); status != http.StatusUnprocessableEntity || !strings.Contains(page, "not an email address") {
			t.Errorf("no address: %d, %s", status, page)
		}
		if actions, texts := o.actions(); len(actions) != 2 || actions[0] != "person.exported" || strings.Contains(texts, ada) {
			t.Errorf("the audit log has %q with %s", actions, texts)
		}
	})
}

func TestEraseAndAllow(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := newOffice(t, db)
		for _, typed := range []string{"", bob, "ada@example.co"} {
			if status, page := o.post("/erase", form(ada, "typed", typed)); status != http.StatusConflict || !strings.Contains(page, "Type "+ada) || o.id(ada) == "" {
				t.Errorf("typed %q: %d, %s", typed, status, page)
			}
		}
		if status, page := o.post("/erase", form(ada, "typed", " ADA@example.com")); status != http.StatusOK || !strings.Contains(page, "had opted out") || strings.Contains(page, ada) {
			t.Errorf("erased: %d, %s", status, page)
		}
		if o.id(ada) != "" || o.id(bob) == "" || len(o.journal.entries) != 1 {
			t.Errorf("ada is %q, bob is %q, the journal has %d entries", o.id(ada), o.id(bob), len(o.journal.entries))
		}
		if _, err := o.account.Contact(t.Context(), o.Org.ID, ada); !sending.IsAbsent(err) {
			t.Errorf("at the sending account: %v", err)
		}
		if status, page := o.post("", form(ada)); status != http.StatusOK || !strings.Contains(page, "new contacts with it are refused") {
			t.Errorf("the page of the erased person: %d, %s", status, page)
		}
		if status, page := o.post("/allow", form(ada)); status != http.StatusOK || strings.Contains(page, "are refused") {
			t.Errorf("allowed: %d, %s", status, page)
		}
		if status, page := o.post("/allow", form(ada)); status != http.StatusNotFound || !strings.Contains(page, "not refused") {
			t.Errorf("allowed twice: %d, %s", status, page)
		}
		if actions, texts := o.actions(); strings.Join(actions, " ") != "person.allowed person.erased" || strings.Contains(texts, ada) {
			t.Errorf("the audit log has %q with %s", actions, texts)
		}
	})
}

// TestSearchTakesTooLong refuses a search that exceeds the time of expensive reads.
func TestSearchTakesTooLong(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	o.Frame.Expensive = func(context.Context, string, func(context.Context) error) error {
		return core.Invalid("", "takes too long")
	}
	for _, path := range []string{"", "/export"} {
		if status, page := o.post(path, form(ada)); status != http.StatusUnprocessableEntity || !strings.Contains(page, "admin person") {
			t.Errorf("%q: %d, %s", path, status, page)
		}
	}
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	get := func(name, query string) {
		_, page := frametest.Get(t, o.pages, persons.Path+query)
		frametest.CompareGolden(t, name, page, *update)
	}
	get("search", "")
	get("search_contact", "?contact="+o.id(ada))
	_, page := o.post("", form(ada))
	frametest.CompareGolden(t, "person", page, *update)
	_, page = o.post("", form("carol@example.com"))
	frametest.CompareGolden(t, "nothing", page, *update)
	_, page = o.post("/erase", form(ada, "typed", ada))
	frametest.CompareGolden(t, "erased", page, *update)
	_, page = o.post("", form(ada))
	frametest.CompareGolden(t, "refused", page, *update)
	o.factors = people.Factors{}
	get("factor", "")
}
