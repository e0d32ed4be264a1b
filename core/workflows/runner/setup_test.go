package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/mailing"
	"github.com/mailhelm/mailhelm/core/workflows/runner"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

var start = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// world is an organization with a runner, a mailer and a sending account that stores what it is
// passed.
type world struct {
	*workflows.Workflows
	db     *storage.DB
	org    string
	runner *runner.Runner
	// runnerLog is the log of runners that newRunner returns.
	runnerLog *slog.Logger
	mailer    *mailing.Mailer
	observer  runner.Observer
	segments  *segments.Segments

	mu   sync.Mutex
	now  time.Time
	sent []sending.Message
	// answer is the account's answer to a message, nil for acceptance.
	answer func(sending.Message) error
	// sender returns the default sender, nil for a fixed one.
	sender func() string
	// broken makes changes of contacts fail.
	broken map[string]bool
	// templates has the names of the templates.
	templates map[string]bool
	// mistake is that of the processes of newProcess.
	mistake mistake
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWorld(t testing.TB, db *storage.DB) *world {
	t.Helper()
	w := connect(db, core.NewID())
	ctx := t.Context()
	must(t, db.Orgs().InsertOrg(ctx, core.Org{ID: w.org, Name: "Acme", Slug: "acme-" + w.org, Tier: "team", RetentionDays: 365}))
	must(t, db.Topics().ReplaceTopics(ctx, w.org, []sending.Topic{{Name: "news", Default: sending.OptIn}, {Name: "offers", Default: sending.OptOut}}, start))
	for _, key := range []string{"vip", "beta"} {
		must(t, db.Lists().InsertList(ctx, w.org, lists.List{ID: core.NewID(), Key: key, Name: key, Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: start, UpdatedAt: start}))
	}
	for name, kind := range map[string]attributes.Type{
		"plan": attributes.String, "visits": attributes.Number, "vip": attributes.Bool, "city": attributes.String, "renewal": attributes.Datetime, "timezone": attributes.String,
	} {
		must(t, db.Attributes().InsertAttribute(ctx, w.org, attributes.Attribute{ID: core.NewID(), Name: name, Type: kind, Origin: core.ManagedOrigin, CreatedAt: start, UpdatedAt: start}))
	}
	_, err := w.segments.Save(ctx, w.org, segments.Definition{Key: "customers", Name: "Customers", Source: `attr.plan is known`, Origin: segments.Managed})
	must(t, err)
	return w
}

// connect returns a process of an organization that exists.
func connect(db *storage.DB, org string) *world {
	log := slog.New(slog.DiscardHandler)
	w := &world{db: db, org: org, runnerLog: log, now: start, broken: map[string]bool{}, templates: map[string]bool{"welcome": true, "tips": true, "offer": true}}
	w.observer = runner.Observer{Entries: workflowstore.NewEntryStore(db.DB), Changes: workflowstore.NewChangeStore(db.DB)}
	w.segments = segments.New(segments.Config{
		Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Orgs: db.Orgs().OrgIDs, Clock: w.Now, Log: log,
		OnMembers: w.observer.ObserveMembers,
	})
	w.Workflows = workflows.New(workflows.Config{
		Store: workflowstore.New(db.DB), Runs: workflowstore.NewRunStore(db.DB), Holds: workflowstore.NewRunStore(db.DB), Timers: workflowstore.NewTimerStore(db.DB), Entries: workflowstore.NewEntryStore(db.DB), Transactor: db,
		Schemas: w, Orgs: db.Orgs().OrgIDs, Clock: w.Now, Log: log,
	})
	w.runner, w.mailer = w.newRunner(), w.newMailer(core.NewID())
	return w
}

func (w *world) newRunner() *runner.Runner {
	db := w.db
	return runner.New(runner.Config{
		Store: workflowstore.New(db.DB), Timers: workflowstore.NewTimerStore(db.DB), Entries: workflowstore.NewEntryStore(db.DB), Changes: workflowstore.NewChangeStore(db.DB), Mails: workflowstore.NewMailStore(db.DB), Transactor: db,
		Subjects: db.Subjects(), Schemas: w, Contacts: w, Revalidate: w.Revalidate, Clock: w.Now, Log: w.runnerLog,
	})
}

func (w *world) newMailer(process string) *mailing.Mailer {
	log := slog.New(slog.DiscardHandler)
	steps := handover.New(handover.Config{
		Store: w.db.Handover(), Limits: w.db.HandoverLimits(), Transactor: w.db, Account: w, Process: process, Clock: w.Now, Wait: w.wait, Log: log,
		Rate: func(context.Context, string) (float64, error) { return 0, nil },
	})
	return mailing.New(mailing.Config{
		Store: workflowstore.NewMailStore(w.db.DB), Steps: steps, Templates: w, Senders: w, Links: w, Wait: w.wait, Clock: w.Now, Log: log,
		Finish: func(_ context.Context, _ string, c sending.Template) (sending.Template, error) { return c, nil },
	})
}

// Now is the clock of the world, which tests move with advance.
func (w *world) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) set(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

func (w *world) wait(_ context.Context, until time.Time) {
	if until.After(w.Now()) {
		w.set(until)
	}
}

// advance lets time pass and then all work be done.
func (w *world) advance(t testing.TB, d time.Duration) {
	t.Helper()
	w.set(w.Now().Add(d))
	w.settle(t)
}

// settle lets all work be done that is due.
func (w *world) settle(t testing.TB) {
	t.Helper()
	must(t, w.segments.Follow(t.Context(), w.org))
	for range 12 {
		must(t, w.runner.Look(t.Context()))
		w.runner.Join()
		must(t, w.mailer.Look(t.Context()))
		w.mailer.Join()
	}
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
	return fmt.Sprintf("message-%d", len(w.sent)), nil
}

func (w *world) SendBulk(context.Context, string, sending.Bulk) ([]sending.BulkOutcome, error) {
	return nil, errors.New("no bulk calls")
}

// mails returns the subjects of the messages to a contact, in their order.
func (w *world) mails(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var subjects []string
	for _, m := range w.sent {
		if m.To[0] == name+"@example.com" {
			subjects = append(subjects, m.Content.Subject)
		}
	}
	return strings.Join(subjects, ", ")
}

func (w *world) WorkflowSchema(ctx context.Context, orgID string) (language.Schema, error) {
	names, err := w.db.Segments().PredicateSchema(ctx, orgID)
	return language.Schema{Schema: names.Schema, Templates: w.templates}, err
}

func (w *world) PredicateSchema(ctx context.Context, orgID string) (segments.Schema, error) {
	return w.db.Segments().PredicateSchema(ctx, orgID)
}

func (w *world) Content(_ context.Context, _, slug string) (sending.Template, string, error) {
	return sending.Template{Subject: slug + "{{#if plan}} {{plan}}{{/if}}", HTML: "<p>Hello</p>"}, slug, nil
}

func (w *world) Default(context.Context, string) (string, error) {
	if w.sender != nil {
		return w.sender(), nil
	}
	return "us@example.org", nil
}
func (w *world) Channel(context.Context, string) (string, error) { return "", nil }
func (w *world) Links(_, contactID, _, _ string) (composition.Links, error) {
	return composition.Links{Unsubscribe: "https://example.org/u/" + contactID}, nil
}

func (w *world) SetAttributes(ctx context.Context, orgID, contactID string, values map[string]any) error {
	if w.broken[contactID] {
		return errors.New("it is broken")
	}
	c, err := w.db.Contacts().ContactByID(ctx, orgID, contactID)
	if err != nil || c.Status != contacts.Active {
		return err
	}
	maps.Copy(c.Attributes, values)
	c.UpdatedAt = w.Now()
	if err := w.db.Contacts().UpdateContact(ctx, orgID, c); err != nil {
		return err
	}
	return w.changed(ctx, contactID)
}

func (w *world) AddToLists(ctx context.Context, orgID, contactID string, listIDs []string) error {
	current, err := w.db.ListMembers().ContactLists(ctx, orgID, contactID)
	if err != nil {
		return err
	}
	for _, l := range current {
		if !slices.Contains(listIDs, l.ID) {
			listIDs = append(listIDs, l.ID)
		}
	}
	if _, _, err := w.db.ListMembers().ReplaceMembership(ctx, orgID, contactID, listIDs, w.Now()); err != nil {
		return err
	}
	return w.changed(ctx, contactID)
}

func (w *world) changed(ctx context.Context, contactID string) error {
	if err := w.segments.ObserveChange(ctx, w.org, []string{contactID}); err != nil {
		return err
	}
	return w.observer.ObserveChange(ctx, w.org, []string{contactID})
}

// add adds a contact and returns its id.
func (w *world) add(t testing.TB, name string, values map[string]any) string {
	t.Helper()
	c := contacts.Contact{ID: core.NewID(), Email: name + "@example.com", Status: contacts.Active, Attributes: values, CreatedAt: w.Now(), UpdatedAt: w.Now()}
	if c.Attributes == nil {
		c.Attributes = map[string]any{}
	}
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		if err := w.db.Contacts().InsertContact(ctx, w.org, c); err != nil {
			return err
		}
		return w.changed(ctx, c.ID)
	}))
	return c.ID
}

// edit changes a contact.
func (w *world) edit(t testing.TB, id string, change func(*contacts.Contact)) {
	t.Helper()
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		c, err := w.db.Contacts().ContactByID(ctx, w.org, id)
		if err != nil {
			return err
		}
		change(&c)
		c.UpdatedAt = w.Now()
		if err := w.db.Contacts().UpdateContact(ctx, w.org, c); err != nil {
			return err
		}
		return w.changed(ctx, id)
	}))
}

// act records an activity of a contact at a time.
func (w *world) act(t testing.TB, contactID, name string, at time.Time) {
	t.Helper()
	a := activities.Activity{ID: core.NewID(), ContactID: contactID, Name: name, OccurredAt: at, ReceivedAt: w.Now(), Source: activities.FromAPI, Properties: json.RawMessage(`{}`)}
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		if err := w.db.Activities().Insert(ctx, w.org, []activities.Activity{a}); err != nil {
			return err
		}
		if err := w.observer.ObserveActivities(ctx, w.org, []activities.Activity{a}); err != nil {
			return err
		}
		return w.changed(ctx, contactID)
	}))
}

// click records a click of a contact at the present time.
func (w *world) click(t testing.TB, name string) {
	t.Helper()
	e := messages.Event{
		ID: core.NewID(), MessageID: core.NewID(), Type: messages.Click, OccurredAt: w.Now(), Recipient: name + "@Example.com",
		Mail: messages.Mail{From: "us@example.org", To: []string{name + "@example.com"}, SentAt: w.Now()},
	}
	must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
		if _, err := w.db.Messages().RecordEvents(ctx, w.org, []messages.Event{e}, w.Now()); err != nil {
			return err
		}
		return w.observer.ObserveEvents(ctx, w.org, []messages.Event{e})
	}))
}

// launch saves a workflow with settings and steps and activates it. It returns its id.
func (w *world) launch(t testing.TB, settingsAndSteps string) string {
	t.Helper()
	saved, err := w.Save(t.Context(), w.org, workflows.Definition{Source: "workflow \"W\" v1 {\n" + settingsAndSteps + "\n}\n"})
	must(t, err)
	_, err = w.Activate(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{})
	must(t, err)
	return saved.Workflow.ID
}

// runs returns the runs of a contact in a workflow, the oldest first.
func (w *world) runs(t testing.TB, workflowID, contactID string) []workflows.Run {
	t.Helper()
	found, err := workflowstore.NewRunStore(w.db.DB).Runs(t.Context(), w.org, workflows.RunFilter{WorkflowID: workflowID, ContactID: contactID, Limit: 100})
	must(t, err)
	for i, j := 0, len(found)-1; i < j; i, j = i+1, j-1 {
		found[i], found[j] = found[j], found[i]
	}
	return found
}

// story returns the timelines of a contact's runs in a workflow as text.
func (w *world) story(t testing.TB, workflowID, contactID string) string {
	t.Helper()
	var lines []string
	for _, r := range w.runs(t, workflowID, contactID) {
		events, err := workflowstore.NewRunStore(w.db.DB).Timeline(t.Context(), w.org, r)
		must(t, err)
		var words []string
		for _, e := range events {
			words = append(words, eventWords(e.Event))
		}
		lines = append(lines, strings.Join(words, "; "))
	}
	return strings.Join(lines, " | ")
}

func eventWords(e engine.Event) string {
	words := []string{e.Path, string(e.Type), e.Arm, string(e.Reason), string(e.Kind), e.Exit}
	if e.Type == engine.StepEntered || e.Type == engine.SendFailed {
		words = append(words, e.Detail)
	}
	if e.Iteration > 0 {
		words = append(words, fmt.Sprint("pass ", e.Iteration))
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// tells checks the story of a contact.
func (w *world) tells(t testing.TB, workflowID, contactID, want string) {
	t.Helper()
	if got := w.story(t, workflowID, contactID); got != want {
		t.Errorf("the story is\n%s\nwant\n%s", got, want)
	}
}
