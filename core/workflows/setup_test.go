package workflows_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an organization with the segment trials, the topic news, the template welcome and
// two contacts.
type world struct {
	*workflows.Workflows
	db       *storage.DB
	segments *segments.Segments
	org      string
	contacts [2]string
	woken    int
	// estimate is what the world answers to all estimates.
	estimate workflows.Estimate
	// dryRun has the source, the id of the workflow and the contact of the last dry run.
	dryRun [3]string

	mu  sync.Mutex
	now time.Time
}

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

// WorkflowSchema reads the names from the database.
func (w *world) WorkflowSchema(ctx context.Context, orgID string) (language.Schema, error) {
	names, err := w.db.Segments().PredicateSchema(ctx, orgID)
	if err != nil {
		return language.Schema{}, err
	}
	schema := language.Schema{Schema: names.Schema, Templates: map[string]bool{}}
	named, err := w.db.Templates().Slugs(ctx, orgID)
	for _, t := range named {
		schema.Templates[t.Slug] = t.Sendable
	}
	return schema, err
}

// DryRun answers with one step for each send of the workflow.
func (w *world) DryRun(_ context.Context, _ string, checked *language.Checked, workflowID, contactID string, _ time.Time) ([]workflows.DryStep, error) {
	if contactID != w.contacts[0] && contactID != w.contacts[1] {
		return nil, core.NotFound("contact")
	}
	w.dryRun = [3]string{checked.Tree().String(), workflowID, contactID}
	var steps []workflows.DryStep
	for located := range checked.Tree().All() {
		if s, ok := located.Step.(*language.Send); ok {
			steps = append(steps, workflows.DryStep{NodePath: located.Path, NodeType: s.Type(), Action: workflows.WouldSend, Detail: s.Template})
		}
	}
	return steps, nil
}

// Estimate answers with the estimate of the world.
func (w *world) Estimate(context.Context, string, *language.Checked, string, int, time.Time) (workflows.Estimate, error) {
	return w.estimate, nil
}

// each runs a test with a world on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{db: db, org: core.NewID(), now: start}
	w.Workflows = workflows.New(workflows.Config{
		Store: workflowstore.New(db.DB), Runs: workflowstore.NewRunStore(db.DB), Holds: workflowstore.NewRunStore(db.DB), Timers: workflowstore.NewTimerStore(db.DB), Entries: workflowstore.NewEntryStore(db.DB), Transactor: db,
		Schemas: w, DryRuns: w, Estimates: w, Orgs: db.Orgs().OrgIDs, Wake: func() { w.woken++ }, Clock: w.clock, Log: slog.New(slog.DiscardHandler),
	})
	must(t, db.Orgs().InsertOrg(t.Context(), core.Org{ID: w.org, Name: "Acme", Slug: "acme-" + w.org, Tier: "team", RetentionDays: 30}))
	must(t, db.Topics().ReplaceTopics(t.Context(), w.org, []sending.Topic{{Name: "news", Default: sending.OptIn}}, start))
	w.segments = segments.New(segments.Config{Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Orgs: db.Orgs().OrgIDs, Clock: w.clock, Log: slog.New(slog.DiscardHandler)})
	w.addSegment(t)
	w.addTemplate(t, "welcome")
	for i, email := range []string{"ann@example.com", "bob@example.com"} {
		w.contacts[i] = core.NewID()
		must(t, db.Contacts().InsertContact(t.Context(), w.org, contacts.Contact{ID: w.contacts[i], Email: email, Attributes: map[string]any{}, CreatedAt: start, UpdatedAt: start}))
	}
	return w
}

// addSegment creates or restores the segment trials.
func (w *world) addSegment(t *testing.T) {
	t.Helper()
	_, err := w.segments.Save(t.Context(), w.org, segments.Definition{Key: "trials", Name: "Trials", Source: `attr.email ends with ".com"`, Origin: segments.Managed})
	must(t, err)
}

func (w *world) addTemplate(t *testing.T, slug string) {
	t.Helper()
	content := templates.Version{Number: 1, Subject: "Hello", HTML: "<p>Hello</p>", Hash: slug, SavedAt: start, SavedBy: templates.Author{Kind: "user", ID: "test"}}
	must(t, w.db.ManagedTemplates().InsertManaged(t.Context(), w.org, templates.ManagedTemplate{ID: core.NewID(), Slug: slug, DeployedName: "acme--" + slug, CreatedAt: start, Newest: content}))
}

// source returns a workflow with the name and the statements.
func source(name string, statements ...string) string {
	return `workflow "` + name + `" v1 {` + "\n" + strings.Join(statements, "\n") + "\n}\n"
}

// trial is a workflow that can be activated.
var trial = source("Trial", `enter on segment "trials"`, `exit "paid" when subscribed to "news"`, `send "welcome" via topic "news"`, `wait 3 days`, `send "welcome" transactional`)

// save saves a source under a key.
func (w *world) save(t *testing.T, key, source string) workflows.Saved {
	t.Helper()
	saved, err := w.Save(t.Context(), w.org, workflows.Definition{Key: key, Source: source, Author: workflows.Author{Kind: "user", ID: "ann"}})
	must(t, err)
	return saved
}

// activate saves a source under a key and activates it.
func (w *world) activate(t *testing.T, key, source string) workflows.Workflow {
	t.Helper()
	saved := w.save(t, key, source)
	activated, err := w.Activate(t.Context(), w.org, saved.Workflow.ID, workflows.Activation{})
	must(t, err)
	return activated
}

// stored returns a workflow as it is stored.
func (w *world) stored(t *testing.T, ref string) workflows.Workflow {
	t.Helper()
	found, err := workflowstore.New(w.db.DB).Workflow(t.Context(), w.org, ref)
	must(t, err)
	return found
}

// enroll lets the contacts enter, and leaves them at the first step in a phase.
func (w *world) enroll(t *testing.T, of workflows.Workflow, phase engine.Phase) []string {
	t.Helper()
	var runs []workflows.Run
	var events []workflows.Event
	var ids []string
	for _, contact := range w.contacts {
		run := workflows.Run{
			ID: core.NewID(), WorkflowID: of.ID, Version: of.CurrentVersion, ContactID: contact, State: engine.Begin(w.clock()), Cause: workflows.SegmentEntered, SourceKey: "trials",
			StartedAt: w.clock(),
		}
		runs, ids = append(runs, run), append(ids, run.ID)
	}
	_, err := workflowstore.NewEntryStore(w.db.DB).Enroll(t.Context(), w.org, of.ID, runs, true)
	must(t, err)
	for i := range runs {
		runs[i].State.Node, runs[i].State.Phase, runs[i].State.WakeAt = "0", phase, time.Time{}
		events = append(events, workflows.Event{ID: core.NewID(), RunID: runs[i].ID, Version: runs[i].Version, Event: engine.Event{Path: "0", Type: engine.StepEntered, At: w.clock()}})
	}
	must(t, workflowstore.NewTimerStore(w.db.DB).Move(t.Context(), w.org, of.ID, runs, events))
	return ids
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks the code of a failure.
func wantCode(t *testing.T, what string, err error, code core.Code) {
	t.Helper()
	if err == nil || core.AsError(err).Code != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}
