package segments_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// world is [segments.Segments] on a test database, for one organization with contacts.
type world struct {
	*segments.Segments
	db       *storage.DB
	org      string
	contacts map[string]contacts.Contact
	// suppressed has the addresses on the sending account's suppression list.
	suppressed []string
	// stuck makes the second page of the suppression list return its own token as the token
	// of the next page.
	stuck bool

	mu  sync.Mutex
	now time.Time
}

// record returns the organization.
func (w *world) record() core.Org { return core.Org{ID: w.org, RetentionDays: 365} }

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// accountList is a sending account whose suppression list is world.suppressed.
type accountList struct{ *world }

func (l accountList) FindSuppressed(context.Context, string, string) (sending.Suppressed, error) {
	return sending.Suppressed{}, core.NotFound("suppression")
}

func (l accountList) SuppressedPage(_ context.Context, _ string, _, _ time.Time, token string) ([]sending.Suppressed, string, error) {
	at, next := len(token), token+"."
	if at >= len(l.suppressed) {
		return nil, "", nil
	}
	if l.stuck && token != "" {
		next = token
	}
	return []sending.Suppressed{{Email: l.suppressed[at]}}, next, nil // one address a page
}

// each runs a test on SQLite and on PostgreSQL.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{db: db, org: core.NewID(), contacts: map[string]contacts.Contact{}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	must(t, db.Orgs().InsertOrg(t.Context(), core.Org{ID: w.org, Name: "Org", Slug: "org-" + w.org[24:], Tier: "demo", RetentionDays: 365}))
	w.Segments = segments.New(segments.Config{
		Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Suppressions: accountList{w}, Orgs: db.Orgs().OrgIDs,
		Clock: w.clock, Log: slog.New(slog.DiscardHandler),
	})
	for _, a := range []attributes.Attribute{
		{Name: "plan", Type: attributes.Enum, EnumValues: []string{"free", "pro"}},
		{Name: "mrr", Type: attributes.Number},
	} {
		a.ID, a.Origin, a.CreatedAt, a.UpdatedAt = core.NewID(), core.ManagedOrigin, w.now, w.now
		must(t, db.Attributes().InsertAttribute(t.Context(), w.org, a))
	}
	must(t, db.Topics().ReplaceTopics(t.Context(), w.org, []sending.Topic{{Name: "news", Default: sending.OptIn}}, w.now))
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put writes a contact and calls ObserveChange, in one transaction as operations do.
func (w *world) put(t *testing.T, name string, attributes map[string]any) {
	t.Helper()
	must(t, w.write(t.Context(), name, func(c *contacts.Contact) { c.Attributes = attributes }))
}

func (w *world) write(ctx context.Context, name string, change func(*contacts.Contact)) error {
	w.mu.Lock()
	c, known := w.contacts[name]
	if !known {
		c = contacts.Contact{ID: core.NewID(), Email: name + "@example.com", Status: contacts.Active, Attributes: map[string]any{}, CreatedAt: w.now}
	}
	c.UpdatedAt = w.now
	change(&c)
	w.contacts[name] = c
	w.mu.Unlock()
	return w.db.InTx(ctx, func(ctx context.Context) error {
		store := w.db.Contacts().InsertContact
		if known {
			store = w.db.Contacts().UpdateContact
		}
		if err := store(ctx, w.org, c); err != nil {
			return err
		}
		return w.ObserveChange(ctx, w.org, []string{c.ID})
	})
}

// openMail records that a contact opens a message at the present time.
func (w *world) openMail(t *testing.T, name string) {
	t.Helper()
	e := messages.Event{
		ID: core.NewID(), MessageID: core.NewID(), Type: messages.Open, OccurredAt: w.clock(), Recipient: name + "@Example.com",
		Mail: messages.Mail{From: "us@example.org", To: []string{name + "@example.com"}, SentAt: w.clock()},
	}
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		if _, err := w.db.Messages().RecordEvents(ctx, w.org, []messages.Event{e}, w.clock()); err != nil {
			return err
		}
		return w.ObserveEvents(ctx, w.org, []messages.Event{e})
	}))
}

// save creates the segment with the key, or replaces its predicate.
func (w *world) save(t *testing.T, key, source string) segments.Segment {
	t.Helper()
	saved, err := w.Save(t.Context(), w.org, segments.Definition{Key: key, Name: key, Source: source, Origin: segments.Managed})
	must(t, err)
	return saved
}

// follow runs the job that evaluates changed contacts and saved segments.
func (w *world) follow(t *testing.T) {
	t.Helper()
	must(t, w.Follow(t.Context(), w.org))
}

// wantMembers checks that a segment has exactly these members. want has the names of
// contacts.
func (w *world) wantMembers(t *testing.T, key string, want ...string) {
	t.Helper()
	segment, err := w.Store.Segment(t.Context(), w.org, key)
	must(t, err)
	members, err := w.Members.SegmentMembers(t.Context(), w.org, segment.ID, nil, 1000)
	must(t, err)
	var got []string
	for _, m := range members {
		for name, c := range w.contacts {
			if c.ID == m.ContactID {
				got = append(got, name)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("in %s are %v, want %v", key, got, want)
	}
	if segment.MemberCount != len(want) {
		t.Errorf("%s counts %d members, want %d", key, segment.MemberCount, len(want))
	}
}

// log returns the entries of the membership log about a segment, oldest first.
func (w *world) log(t *testing.T, key string) []lists.Transition {
	t.Helper()
	segment, err := w.Store.Segment(t.Context(), w.org, key)
	must(t, err)
	all, err := w.db.ListMembers().MembershipLog(t.Context(), w.org, nil, 10_000)
	must(t, err)
	return slices.DeleteFunc(all, func(line lists.Transition) bool {
		return line.Kind != lists.SegmentSet || line.SetID != segment.ID
	})
}

// transitions returns the entries of the membership log about a segment, each as the name
// of the contact and whether it entered.
func (w *world) transitions(t *testing.T, key string) []string {
	t.Helper()
	lines := []string{}
	for _, line := range w.log(t, key) {
		for name, c := range w.contacts {
			if c.ID == line.ContactID {
				lines = append(lines, fmt.Sprintf("%s %v", name, line.Entered))
			}
		}
	}
	return lines
}
