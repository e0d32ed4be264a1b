package population_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/population"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

var (
	now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	day = 24 * time.Hour
)

// world is an organization with ten contacts. The contact i has the number i, signed up i days
// ago, and its trial ends in i days. All but the first are in the segment numbered.
type world struct {
	*population.Population
	db  *storage.DB
	org string
	ids []string
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{db: db, org: core.NewID()}
	w.Population = population.New(population.Config{Schemas: db.Segments(), Subjects: db.Subjects(), Members: db.SegmentMembers(), Triggers: workflowstore.NewTriggerStore(db.DB), Caps: workflowstore.New(db.DB), Runs: workflowstore.NewRunStore(db.DB), Past: workflowstore.NewEntryStore(db.DB)})
	must(t, db.Orgs().InsertOrg(t.Context(), core.Org{ID: w.org, Name: "Acme", Slug: "acme-" + w.org, Tier: "team", RetentionDays: 365}))
	for _, a := range []attributes.Attribute{{Name: "number", Type: attributes.Number}, {Name: "trial_ends", Type: attributes.Datetime}} {
		a.ID, a.Origin, a.CreatedAt, a.UpdatedAt = core.NewID(), core.ManagedOrigin, now, now
		must(t, db.Attributes().InsertAttribute(t.Context(), w.org, a))
	}
	for i := range 10 {
		ends := now.Add(time.Duration(i) * day)
		c := contacts.Contact{
			ID: core.NewID(), Email: fmt.Sprintf("contact-%d@example.com", i), Status: contacts.Active, Attributes: map[string]any{"number": json.Number(fmt.Sprint(i)), "trial_ends": ends.Format(time.RFC3339)},
			CreatedAt: now.Add(-30 * day), UpdatedAt: now,
		}
		must(t, db.Contacts().InsertContact(t.Context(), w.org, c))
		at := now.Add(-time.Duration(i) * day)
		must(t, db.Activities().Insert(t.Context(), w.org, []activities.Activity{{
			ID: core.NewID(), ContactID: c.ID, Name: "signed_up", OccurredAt: at, ReceivedAt: at, Source: activities.FromAPI, Properties: json.RawMessage("{}"),
		}}))
		w.ids = append(w.ids, c.ID)
	}
	divided := segments.New(segments.Config{
		Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Orgs: db.Orgs().OrgIDs, Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	})
	_, err := divided.Save(t.Context(), w.org, segments.Definition{Key: "numbered", Name: "Numbered", Source: "attr.number >= 1", Origin: segments.Managed})
	must(t, err)
	must(t, divided.Follow(t.Context(), w.org))
	return w
}

// compile returns a workflow with the settings and one send.
func (w *world) compile(t *testing.T, settings string) *language.Checked {
	t.Helper()
	names, err := w.db.Segments().PredicateSchema(t.Context(), w.org)
	must(t, err)
	checked, err := language.Compile("workflow \"Trial\" v1 {\n"+settings+"\nif attr.number > 5 { exit }\nsend \"welcome\"\n}", language.Schema{Schema: names.Schema})
	must(t, err)
	return checked
}

// TestEstimates checks who enters at once, and how many have entered in the last days.
func TestEstimates(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		for settings, want := range map[string]struct {
			now, contacts int
		}{
			`enter on segment "numbered"`:                                                      {9, 0},
			"enter on segment \"numbered\"\nwhere attr.number > 7":                             {2, 0},
			"enter on segment \"numbered\"\nenroll existing since 1 day":                       {0, 0},
			"enter on activity.signed_up":                                                      {0, 4},
			"enter on activity.signed_up\nenroll existing":                                     {10, 4},
			"enter on activity.signed_up\nenroll existing since 3 days":                        {3, 4},
			"enter on activity.signed_up\nwhere attr.number < 2\nenroll existing since 3 days": {1, 4},
			"enter on event click\nenroll existing":                                            {0, 0},
			"enter on 2 days before attr.trial_ends":                                           {0, 2},
			"enter on 2 days before attr.trial_ends\nenroll existing since 1 day":              {1, 2},
			"enter on 1 day after attr.trial_ends":                                             {0, 0},
		} {
			checked := w.compile(t, settings)
			got, err := w.Estimate(t.Context(), w.org, checked, "", 4, now)
			must(t, err)
			alone, err := w.Estimate(t.Context(), w.org, checked, "", 0, now)
			must(t, err)
			if got.EnterNow != want.now || alone.EnterNow != want.now || got.Contacts != want.contacts || got.Sampled {
				t.Errorf("%s\n%d enter now (%d asked alone), want %d; for %d contacts it happened, want %d", settings, got.EnterNow, alone.EnterNow, want.now, got.Contacts, want.contacts)
			}
			if len(got.Sends) != 1 || got.PerDay < 0 || alone.Days != nil {
				t.Errorf("%s: %+v", settings, got)
			}
		}
	})
}

// enroll lets the contacts 1 to 4 have a run in a workflow. The run of 1 is active, that of 2 was
// completed, and those of 3 and 4 ended by a named exit.
func (w *world) enroll(t *testing.T, workflowID string) {
	t.Helper()
	var runs []workflows.Run
	for i := 1; i <= 4; i++ {
		runs = append(runs, workflows.Run{
			ID: core.NewID(), WorkflowID: workflowID, Version: 1, ContactID: w.ids[i], State: engine.Begin(now), Cause: workflows.ActivityTriggered, SourceKey: "other", StartedAt: now,
		})
	}
	_, err := workflowstore.NewEntryStore(w.db.DB).Enroll(t.Context(), w.org, workflowID, runs, false)
	must(t, err)
	for i := range runs[1:] {
		r := &runs[1+i]
		r.CompletedAt, r.State.WakeAt = &now, time.Time{}
		r.State.Status = engine.Completed
		if i > 0 {
			r.State.Status, r.ExitKind, r.ExitName = engine.Exited, engine.ByName, "third"
		}
	}
	must(t, workflowstore.NewTimerStore(w.db.DB).Move(t.Context(), w.org, workflowID, runs, nil))
}

// TestEstimatesOfContactsThatWereInTheWorkflow checks that contacts do not count whom the rules
// of re-entry keep out.
func TestEstimatesOfContactsThatWereInTheWorkflow(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		workflowID := core.NewID()
		w.enroll(t, workflowID)
		const exit = "\nexit \"third\" when attr.number = 3"
		for settings, want := range map[string]struct{ once, again int }{
			`enter on segment "numbered"`:                                                      {5, 7},
			"enter on segment \"numbered\"\nwhere attr.number < 6":                             {1, 3},
			"enter on segment \"numbered\"\nenroll forward":                                    {0, 0},
			"enter on activity.signed_up\nenroll existing":                                     {6, 8},
			"enter on activity.signed_up\nenroll existing since 5 days":                        {1, 3},
			"enter on activity.signed_up\nwhere attr.number > 1\nenroll existing since 5 days": {1, 3},
			"enter on 2 days before attr.trial_ends\nenroll existing since 4 days":             {1, 1},
		} {
			for rule, want := range map[string]int{"": want.once, "once": want.once, "on rematch": want.again, "per occurrence": want.again} {
				if rule != "" {
					rule = "\nreentry " + rule
				}
				checked := w.compile(t, settings+exit+rule)
				got, err := w.Estimate(t.Context(), w.org, checked, workflowID, 4, now)
				must(t, err)
				alone, err := w.Estimate(t.Context(), w.org, checked, workflowID, 0, now)
				must(t, err)
				if got.EnterNow != want || alone.EnterNow != want {
					t.Errorf("%s%s\n%d enter now (%d asked alone), want %d", settings, rule, got.EnterNow, alone.EnterNow, want)
				}
			}
		}
	})
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		checked := w.compile(t, `enter on segment "numbered"`)
		for id, want := range map[string][]workflows.DryAction{
			w.ids[1]: {workflows.MatchedBranch, workflows.WouldSend}, w.ids[7]: {workflows.MatchedBranch, workflows.Exited},
		} {
			steps, err := w.DryRun(t.Context(), w.org, checked, "", id, now)
			must(t, err)
			var got []workflows.DryAction
			for _, s := range steps {
				got = append(got, s.Action)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", steps, diff)
			}
		}
		if _, err := w.DryRun(t.Context(), w.org, checked, "", core.NewID(), now); !core.IsNotFound(err) {
			t.Errorf("an unknown contact: %v", err)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
