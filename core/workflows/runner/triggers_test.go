package runner_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/workflows"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// causes returns the causes of a contact's runs.
func (w *world) causes(t *testing.T, workflowID, contactID string) string {
	t.Helper()
	text := ""
	for _, r := range w.runs(t, workflowID, contactID) {
		text += string(r.Cause) + " " + r.SourceKey + "; "
	}
	return text
}

func TestTriggers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		segment := w.launch(t, "enter on segment \"customers\" where attr.visits > 1\nenroll forward\nsend \"welcome\"")
		activity := w.launch(t, "enter on activity.signup\nsend \"tips\"")
		event := w.launch(t, "enter on event click\nsend \"offer\"")
		few, many := w.add(t, "few", map[string]any{"plan": "free", "visits": 1.0}), w.add(t, "many", map[string]any{"plan": "free", "visits": 2.0})
		w.act(t, few, "signup", w.Now().Add(-time.Hour)) // before the activation
		w.act(t, many, "signup", w.Now())
		w.click(t, "few")
		w.settle(t)
		for id, want := range map[string][2]string{
			segment: {"", "segment_entered customers; "}, activity: {"", "activity_triggered signup; "}, event: {"event_triggered click; ", ""},
		} {
			if got := [2]string{w.causes(t, id, few), w.causes(t, id, many)}; got != want {
				t.Errorf("the causes are %q, want %q", got, want)
			}
		}
	})
}

func TestExistingContactsEnter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		ada, bob := w.add(t, "ada", map[string]any{"plan": "pro"}), w.add(t, "bob", nil)
		w.act(t, bob, "signup", w.Now().Add(-2*day))
		w.act(t, ada, "signup", w.Now().Add(-9*day))
		w.settle(t)
		w.advance(t, time.Minute)
		bySegment := w.launch(t, "enter on segment \"customers\"\nsend \"welcome\"")
		byActivity := w.launch(t, "enter on activity.signup\nenroll existing since 7 days\nsend \"tips\"")
		forward := w.launch(t, "enter on segment \"customers\"\nenroll forward\nsend \"offer\"")
		w.settle(t)
		if got := w.causes(t, bySegment, ada) + w.causes(t, byActivity, bob); got != "back_enrolled customers; back_enrolled signup; " {
			t.Errorf("the causes are %q", got)
		}
		if got := w.causes(t, bySegment, bob) + w.causes(t, byActivity, ada) + w.causes(t, forward, ada); got != "" {
			t.Errorf("these entered too: %q", got)
		}
		found, err := workflowstore.New(w.db.DB).Workflow(t.Context(), w.org, bySegment)
		must(t, err)
		if found.Backfill != nil {
			t.Errorf("the backfill did not end: %+v", found.Backfill)
		}
	})
}

func TestDates(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		at := func(d time.Duration) map[string]any {
			return map[string]any{"renewal": start.Add(d).Format(time.RFC3339)}
		}
		soon, later, over := w.add(t, "soon", at(4*day)), w.add(t, "later", at(30*day)), w.add(t, "over", at(day))
		id := w.launch(t, "enter on 3 days before attr.renewal\nreentry per occurrence\nsend \"offer\"")
		old := w.launch(t, "enter on 3 days before attr.renewal\nenroll existing since 7 days\nsend \"tips\"")
		for range 3 {
			w.advance(t, 12*time.Hour)
		}
		if got := w.causes(t, id, soon) + w.causes(t, old, over); got != "date_reached renewal; back_enrolled renewal; " {
			t.Errorf("the causes are %q", got)
		}
		if got := w.causes(t, id, later) + w.causes(t, id, over); got != "" {
			t.Errorf("these entered too: %q", got)
		}
		w.edit(t, soon, func(c *contacts.Contact) { c.Attributes["renewal"] = start.Add(20 * day).Format(time.RFC3339) })
		w.advance(t, 20*day)
		if got := len(w.runs(t, id, soon)); got != 2 {
			t.Errorf("%d runs after the next date, want 2", got)
		}
	})
}

func TestReentry(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		ids := map[string]string{}
		for _, rule := range []string{"once", "on rematch", "per occurrence"} {
			ids[rule] = w.launch(t, "enter on activity.signup\nexit \"bought\" when exists(activity.purchase within 10d)\nreentry "+rule+"\nwait 1 day\nsend \"tips\"")
		}
		ada, bob := w.add(t, "ada", nil), w.add(t, "bob", nil)
		signup := func() {
			w.act(t, ada, "signup", w.Now())
			w.act(t, bob, "signup", w.Now())
			w.settle(t)
		}
		signup()
		signup() // a run is active
		w.act(t, bob, "purchase", w.Now())
		w.advance(t, 2*day)
		signup() // bob still matches the exit
		w.advance(t, 20*day)
		signup()
		for rule, want := range map[string][2]int{"once": {1, 1}, "on rematch": {3, 2}, "per occurrence": {3, 2}} {
			if got := [2]int{len(w.runs(t, ids[rule], ada)), len(w.runs(t, ids[rule], bob))}; got != want {
				t.Errorf("reentry %s: %v runs, want %v", rule, got, want)
			}
		}
	})
}

func TestPausedAndArchived(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 day\nsend \"tips\"\nwait 1 day\nsend \"offer\"")
		ada, bob := w.add(t, "ada", nil), w.add(t, "bob", nil)
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		_, err := w.Pause(t.Context(), w.org, id)
		must(t, err)
		w.act(t, bob, "signup", w.Now())
		w.advance(t, 3*day)
		if got := w.mails("ada"); got != "" || len(w.runs(t, id, bob)) != 0 {
			t.Errorf("while it was paused, ada got %q, and bob has %d runs", got, len(w.runs(t, id, bob)))
		}
		_, err = w.Resume(t.Context(), w.org, id)
		must(t, err)
		w.settle(t)
		if got := w.mails("ada"); got != "tips" {
			t.Errorf("ada got %q", got)
		}
		_, err = w.Archive(t.Context(), w.org, id)
		must(t, err)
		w.advance(t, 3*day)
		if run := w.runs(t, id, ada)[0]; run.State.Status != "exited" || run.ExitKind != "archived" || run.CompletedAt == nil || w.mails("ada") != "tips" {
			t.Errorf("the run is %+v, and ada got %q", run, w.mails("ada"))
		}
		found, err := workflowstore.New(w.db.DB).Workflow(t.Context(), w.org, id)
		must(t, err)
		if found.Closing {
			t.Error("the workflow is still closing")
		}
	})
}

func TestInvalidWorkflow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 day\nif attr.visits > 3 {\nsend \"tips\"\n}\nsend \"offer\"")
		ada := w.add(t, "ada", nil)
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		all, err := w.db.Attributes().Attributes(t.Context(), w.org)
		must(t, err)
		for _, a := range all {
			if a.Name == "visits" {
				must(t, w.db.Attributes().DeleteAttribute(t.Context(), w.org, a.ID))
				defer func() {
					w.advance(t, day)
					w.isInvalid(t, id)
					must(t, w.db.Attributes().InsertAttribute(t.Context(), w.org, a))
					must(t, w.Revalidate(t.Context(), w.org))
					w.advance(t, time.Minute)
					if got := w.mails("ada"); got != "offer" {
						t.Errorf("ada got %q", got)
					}
				}()
			}
		}
	})
}

// isInvalid checks that a workflow is invalid, and that its run waits.
func (w *world) isInvalid(t *testing.T, id string) {
	t.Helper()
	found, err := workflowstore.New(w.db.DB).Workflow(t.Context(), w.org, id)
	must(t, err)
	if found.Status != workflows.Invalid || found.StatusBefore != workflows.Active || found.InvalidReason == "" || w.mails("ada") != "" {
		t.Errorf("the workflow is %+v, and ada got %q", found, w.mails("ada"))
	}
}

// TestActivationKeepsEntries activates a version after a contact has signed up and before a
// process has looked for it.
func TestActivationKeepsEntries(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nsend \"welcome\"")
		ada, bob := w.add(t, "ada", nil), w.add(t, "bob", nil)
		w.set(w.Now().Add(time.Second))
		w.act(t, ada, "signup", w.Now())
		w.set(w.Now().Add(time.Second))
		_, err := w.Save(t.Context(), w.org, workflows.Definition{WorkflowID: id, Source: "workflow \"W\" v1 {\nenter on activity.signup\nsend \"tips\"\n}\n"})
		must(t, err)
		_, err = w.Activate(t.Context(), w.org, id, workflows.Activation{})
		must(t, err)
		w.act(t, bob, "signup", w.Now().Add(-time.Second)) // recorded later, with a time before the activation
		w.settle(t)
		if got := w.causes(t, id, ada) + w.causes(t, id, bob); got != "activity_triggered signup; " {
			t.Errorf("the causes are %q", got)
		}
	})
}

// TestActivationDropsEntriesOfAnotherTrigger activates versions with other triggers after contacts
// have signed up and before a process has looked for them.
func TestActivationDropsEntriesOfAnotherTrigger(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		next := func(id, trigger string) {
			t.Helper()
			w.set(w.Now().Add(time.Second))
			_, err := w.Save(t.Context(), w.org, workflows.Definition{WorkflowID: id, Source: "workflow \"W\" v1 {\nenter on " + trigger + "\nsend \"tips\"\n}\n"})
			must(t, err)
			_, err = w.Activate(t.Context(), w.org, id, workflows.Activation{})
			must(t, err)
			w.set(w.Now().Add(time.Second))
		}
		byName := w.launch(t, "enter on activity.signup\nsend \"welcome\"")
		byKind := w.launch(t, "enter on activity.click\nsend \"welcome\"")
		ada, bob := w.add(t, "ada", nil), w.add(t, "bob", nil)
		w.set(w.Now().Add(time.Second))
		for _, name := range []string{"signup", "click"} {
			w.act(t, ada, name, w.Now())
			w.act(t, bob, name, w.Now())
		}
		next(byName, "activity.purchase")
		next(byKind, "event click")
		w.act(t, ada, "purchase", w.Now()) // behind the entry for signup
		w.click(t, "bob")
		w.settle(t)
		for _, test := range []struct{ workflow, contact, want string }{
			{byName, ada, "activity_triggered purchase; "}, {byName, bob, ""}, {byKind, ada, ""}, {byKind, bob, "event_triggered click; "},
		} {
			if got := w.causes(t, test.workflow, test.contact); got != test.want {
				t.Errorf("the causes are %q, want %q", got, test.want)
			}
		}
		for _, id := range []string{byName, byKind} {
			left, err := workflowstore.NewEntryStore(w.db.DB).Entries(t.Context(), w.org, id, 10)
			must(t, err)
			if len(left) != 0 {
				t.Errorf("these entries are left: %v", left)
			}
		}
	})
}

// pausingStore pauses a workflow, or lets its messages wait for a person, just after a process
// has read it.
type pausingStore struct {
	workflows.Store
	after func()
}

func (s *pausingStore) Workflow(ctx context.Context, orgID, ref string) (workflows.Workflow, error) {
	w, err := s.Store.Workflow(ctx, orgID, ref)
	if after := s.after; after != nil {
		s.after = nil
		after()
	}
	return w, err
}

// TestPauseBetweenReadAndMove changes the workflow between the look of a process and its work.
func TestPauseBetweenReadAndMove(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 day\nsend \"tips\"")
		ada := w.add(t, "ada", nil)
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		w.set(w.Now().Add(day))
		store := &pausingStore{Store: workflowstore.New(w.db.DB)}
		w.runner.Store = store
		store.after = func() {
			_, err := w.Pause(t.Context(), w.org, id)
			must(t, err)
		}
		must(t, w.runner.Look(t.Context()))
		w.runner.Join()
		w.tells(t, id, ada, "enrolled; 0 step_entered; 0 wait_started")
		_, err := w.Resume(t.Context(), w.org, id)
		must(t, err)
		store.after = func() {
			_, err := w.SetApproval(t.Context(), w.org, id, true)
			must(t, err)
		}
		w.settle(t)
		w.tells(t, id, ada, "enrolled; 0 step_entered; 0 wait_started; 0 wait_met; 1 step_entered; 1 send_held")
	})
}
