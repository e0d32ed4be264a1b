package broadcasts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/dispatch"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an organization with a list of contacts, and a sending account that stores what it
// is passed.
type world struct {
	*broadcasts.Broadcasts
	tests         *testsends.Broadcasts
	templateTests *testsends.Templates
	db            *storage.DB
	org           string
	list          string

	mu   sync.Mutex
	now  time.Time
	sent []sending.Message
	// answer is the account's answer to a message, nil for acceptance.
	answer func(sending.Message) error
}

// Clock is the clock of the world, which tests move with advance.
func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) Send(_ context.Context, _ string, m sending.Message) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answer != nil {
		if err := w.answer(m); err != nil {
			return "", err
		}
	}
	w.sent = append(w.sent, m)
	return fmt.Sprint("message-", len(w.sent)), nil
}

// SendBulk fails, as that of an SMTP server does.
func (w *world) SendBulk(context.Context, string, sending.Bulk) ([]sending.BulkOutcome, error) {
	return nil, &sending.Failure{Kind: sending.Unsupported}
}

// mails returns the messages that the account accepted, by recipient.
func (w *world) mails() map[string]sending.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]sending.Message{}
	for _, m := range w.sent {
		all[m.To[0]] = m
	}
	return all
}

// The interfaces of Config that no store implements.

func (w *world) Audience(ctx context.Context, orgID string, kind broadcasts.AudienceKind, ref string) (broadcasts.Audience, error) {
	found, err := w.db.Lists().List(ctx, orgID, ref)
	return broadcasts.Audience{Kind: kind, ID: found.ID, Name: found.Name}, err
}

func (w *world) Topic(_ context.Context, _, name string) (string, error) {
	if name != "news" {
		return "", core.NotFound("topic")
	}
	return "News", nil
}

func (w *world) Template(_ context.Context, _, slug string, number int) (broadcasts.Template, error) {
	if slug != "welcome" || number > 1 {
		return broadcasts.Template{}, core.NotFound("template")
	}
	return broadcasts.Template{Subject: "Hi {{first_name}}", HTML: `<p>Dear {{first_name}}, {{offer}}</p><a href="{{unsubscribe_url}}">Unsubscribe</a>`, Name: "acme--welcome"}, nil
}

func (w *world) IsVerified(_ context.Context, _, address string) (bool, error) {
	return strings.HasSuffix(address, "@acme.example"), nil
}

func (w *world) Default(context.Context, string) (string, error) {
	return "Acme <no-reply@acme.example>", nil
}

func (w *world) Channel(context.Context, string) (string, error) { return "marketing", nil }

func (w *world) AttributeNames(context.Context, string) ([]string, error) {
	return []string{"first_name", "plan"}, nil
}

func (w *world) Links(_, contactID, topic, _ string) (composition.Links, error) {
	return composition.Links{
		Unsubscribe: "https://acme.example/u/" + contactID + topic,
		Headers:     []sending.Header{{Name: "List-Unsubscribe", Value: "<https://acme.example/u/" + contactID + topic + ">"}},
	}, nil
}

// each runs a test with a world on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{db: db, org: core.NewID(), now: start}
	must(t, db.Orgs().InsertOrg(t.Context(), core.Org{ID: w.org, Name: "Acme", Slug: "acme-" + w.org, Tier: "team", RetentionDays: 30}))
	must(t, db.Topics().ReplaceTopics(t.Context(), w.org, []sending.Topic{{Name: "news", Default: sending.OptIn}}, start))
	w.list = core.NewID()
	must(t, db.Lists().InsertList(t.Context(), w.org, lists.List{ID: w.list, Key: "all", Name: "All", Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: start, UpdatedAt: start}))
	steps := w.handover("process")
	w.Broadcasts = broadcasts.New(broadcasts.Config{
		Store: db.Broadcasts(), Audience: db.Audiences(), Outcomes: db.Outcomes(), Transactor: db, Audiences: w, Topics: w, Templates: w, Senders: w,
		Registry: w, Links: w, Clock: w.Now, Log: slog.New(slog.DiscardHandler),
		Finish:              func(_ context.Context, _ string, c sending.Template) (sending.Template, error) { return c, nil },
		RefreshSuppressions: func(context.Context, string) error { return nil },
	})
	w.tests = &testsends.Broadcasts{Messages: w.Broadcasts, Sends: testsends.New(testsends.Config{
		Store: db.TestSends(), Recipients: db.Handover(), Steps: steps, Transactor: db, Wait: w.wait, Clock: w.Now, Log: slog.New(slog.DiscardHandler),
	})}
	w.templateTests = testsends.NewTemplates(testsends.TemplatesConfig{
		Sends: w.tests.Sends, Senders: w, Links: w,
		Content: func(ctx context.Context, orgID, slug string) (sending.Template, string, error) {
			found, err := w.Template(ctx, orgID, slug, 0)
			return sending.Template{Subject: found.Subject, HTML: found.HTML}, found.Name, err
		},
		Finish: func(_ context.Context, _ string, c sending.Template) (sending.Template, error) { return c, nil },
	})
	return w
}

// wait moves the clock to the time that a worker waits for.
func (w *world) wait(_ context.Context, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if until.After(w.now) {
		w.now = until
	}
}

// handover returns the handover of a process of the world.
func (w *world) handover(process string) *handover.Handover {
	return handover.New(handover.Config{
		Store: w.db.Handover(), Limits: w.db.HandoverLimits(), Transactor: w.db, Account: w, Process: process, Clock: w.Now, Wait: w.wait,
		Rate: func(context.Context, string) (float64, error) { return 0, nil }, Log: slog.New(slog.DiscardHandler),
	})
}

// dispatch lets a process look for broadcasts and drive them, until they wait or end.
func (w *world) dispatch(t *testing.T, process string) {
	t.Helper()
	d := w.dispatcher(process)
	must(t, d.Look(t.Context()))
	d.Join()
}

// dispatcher returns the dispatcher of a process of the world.
func (w *world) dispatcher(process string) *dispatch.Dispatcher {
	return dispatch.New(dispatch.Config{
		Sends: w.Broadcasts, Store: w.db.Broadcasts(), Open: w.db.OpenBroadcasts(), Outcomes: w.db.Outcomes(), Steps: w.handover(process), Transactor: w.db,
		Wait: w.wait, Clock: w.Now, Log: slog.New(slog.DiscardHandler),
	})
}

// person is a contact of the list.
type person struct {
	email      string
	attributes map[string]any
	out        bool                 // of all mail
	news       sending.Subscription // "" for the default
	suppressed bool
	stub       bool
}

// add puts people on the list and returns their ids.
func (w *world) add(t *testing.T, people ...person) []string {
	t.Helper()
	ids := make([]string, len(people))
	for i, p := range people {
		c := contacts.Contact{
			ID: core.NewID(), Email: p.email, Status: contacts.Active, Attributes: p.attributes, UnsubscribeAll: p.out, Stub: p.stub,
			TopicPreferences: []topics.Preference{}, Lists: []lists.Ref{}, CreatedAt: start, UpdatedAt: start,
		}
		if c.Attributes == nil {
			c.Attributes = map[string]any{}
		}
		if p.news != "" {
			c.TopicPreferences = append(c.TopicPreferences, topics.Preference{Topic: "news", SubscriptionStatus: p.news})
		}
		must(t, w.db.Contacts().InsertContact(t.Context(), w.org, c))
		_, _, err := w.db.ListMembers().ReplaceMembership(t.Context(), w.org, c.ID, []string{w.list}, start)
		must(t, err)
		if p.suppressed {
			must(t, w.db.SegmentChanges().AddSuppressed(t.Context(), w.org, []string{core.EmailKey(p.email)}))
		}
		ids[i] = c.ID
	}
	return ids
}

// call calls an operation over REST and returns its result.
func (w *world) call(t *testing.T, name, arguments string) (any, error) {
	t.Helper()
	return w.callAs(t, core.Credential{Kind: core.APIKey, ID: "key"}, name, arguments)
}

func (w *world) callAs(t *testing.T, as core.Credential, name, arguments string) (any, error) {
	t.Helper()
	all := slices.Concat(w.Operations(), w.tests.Operations(), w.templateTests.Operations())
	at := slices.IndexFunc(all, func(o core.Operation) bool { return o.Info().Name == name })
	if at < 0 {
		t.Fatalf("there is no operation %s", name)
	}
	op := all[at]
	in, err := op.Decode(core.REST, []byte(arguments))
	if err != nil {
		return nil, err
	}
	c := &core.Call{Surface: core.REST, Now: w.Now(), Principal: core.Principal{Org: core.Org{ID: w.org, Slug: "acme"}, Scopes: core.AllScopes(), Credential: as}}
	defer c.Finish()
	if in, err = op.Prepare(t.Context(), c, in); err != nil {
		return nil, err
	}
	var out any
	err = w.db.InTx(t.Context(), func(ctx context.Context) error {
		out, err = op.Do(ctx, c, in)
		return err
	})
	return out, err
}

// draft creates a broadcast with the given further members and returns its id.
func (w *world) draft(t *testing.T, members string) string {
	t.Helper()
	out, err := w.call(t, "broadcasts_create", fmt.Sprintf(`{"name": "News", "audience_kind": "list", "audience_id": "all", %s}`, members))
	must(t, err)
	return out.(broadcasts.Record).ID
}

// send sends a draft at once.
func (w *world) send(t *testing.T, id string) {
	t.Helper()
	_, err := w.call(t, "broadcasts_send", `{"id": "`+id+`", "acknowledge_no_topic": true}`)
	must(t, err)
}

func (w *world) read(t *testing.T, id string) broadcasts.Broadcast {
	t.Helper()
	found, err := w.db.Broadcasts().Broadcast(t.Context(), w.org, id)
	must(t, err)
	return found
}

// results returns the outcome of each recipient, by address.
func (w *world) results(t *testing.T, id string) map[string]string {
	t.Helper()
	out, err := w.call(t, "broadcasts_results", `{"id": "`+id+`", "limit": 200}`)
	must(t, err)
	all := map[string]string{}
	for _, r := range out.(core.Page[broadcasts.Result]).Items {
		all[r.Email] = strings.TrimSpace(string(r.Result) + " " + string(r.FilterTier) + r.FailureReason)
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asJSON returns a value as JSON.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return string(b)
}
