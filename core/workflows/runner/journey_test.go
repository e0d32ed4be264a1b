package runner_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/workflows"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

const day = 24 * time.Hour

func TestJourney(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, `
			enter on segment "customers"
			exit "bought" when exists(activity.purchase)
			send "welcome" via topic news
			wait 3 days
			if attr.plan = "pro" {
			  add to list "vip"
			  set attr.visits = 7
			} else {
			  send "tips"
			}
			wait up to 2 days until attr.vip = true {
			  timeout:
			    send "offer"
			}`)
		ada, bob, cem := w.add(t, "ada", map[string]any{"plan": "pro"}), w.add(t, "bob", map[string]any{"plan": "free"}), w.add(t, "cem", map[string]any{"plan": "free"})
		none := w.add(t, "none", nil)
		w.settle(t)
		for _, name := range []string{"ada", "bob", "cem"} {
			if got := w.mails(name); got != "welcome pro" && got != "welcome free" {
				t.Errorf("%s got %q", name, got)
			}
		}
		w.act(t, cem, "purchase", w.Now())
		w.advance(t, 3*day)
		w.tells(t, id, cem, "enrolled; 0 step_entered; 1 step_entered; 1 wait_started; 1 wait_met; 2 exited named bought")
		w.advance(t, time.Hour)
		w.edit(t, ada, func(c *contacts.Contact) { c.Attributes["vip"] = true })
		w.settle(t)
		w.tells(t, id, ada, "enrolled; 0 step_entered; 1 step_entered; 1 wait_started; 1 wait_met; 2 step_entered then; 2.then.0 step_entered; 2.then.1 step_entered; "+
			"3 step_entered; 3 wait_started; 3 wait_met; 3 completed")
		w.advance(t, 2*day)
		w.tells(t, id, bob, "enrolled; 0 step_entered; 1 step_entered; 1 wait_started; 1 wait_met; 2 step_entered else; 2.else.0 step_entered; "+
			"3 step_entered; 3 wait_started; 3 wait_timed_out; 3.timeout.0 step_entered; 3.timeout.0 completed")
		w.tells(t, id, none, "")
		if got := w.mails("bob"); got != "welcome free, tips free, offer free" {
			t.Errorf("bob got %q", got)
		}
		found, err := w.db.Contacts().ContactByID(t.Context(), w.org, ada)
		must(t, err)
		if len(found.Lists) != 1 || found.Attributes["visits"] != 7.0 {
			t.Errorf("ada is on %v with %v", found.Lists, found.Attributes)
		}
		checkReads(t, w, id)
	})
}

// checkReads checks the counts of the journeys of TestJourney.
func checkReads(t *testing.T, w *world, id string) {
	t.Helper()
	runs := workflowstore.NewRunStore(w.db.DB)
	counts, err := runs.Counts(t.Context(), w.org, []string{id})
	must(t, err)
	if counts[id]["completed"] != 2 || counts[id]["exited"] != 1 || counts[id]["active"] != 0 {
		t.Errorf("the counts are %v", counts)
	}
	exits, err := runs.Exits(t.Context(), w.org, id, 0)
	must(t, err)
	if len(exits) != 2 || exits[1].Name != "bought" || exits[1].Count != 1 {
		t.Errorf("the exits are %+v", exits)
	}
	nodes, err := runs.Nodes(t.Context(), w.org, id, 1)
	must(t, err)
	if len(nodes) != 8 || nodes[0].Runs != 3 || nodes[0].Entries != 3 {
		t.Errorf("the steps are %+v", nodes)
	}
	sends, err := runs.Sends(t.Context(), w.org, id, 1)
	must(t, err)
	total := 0
	for _, s := range sends {
		total += s.Sent
	}
	if len(sends) != 3 || total != 5 {
		t.Errorf("the sends are %+v", sends)
	}
	started, err := runs.Started(t.Context(), w.org, id, start.Add(-day))
	must(t, err)
	if len(started) != 1 || started[0].Count != 3 || !started[0].Day.Equal(start.Truncate(day)) {
		t.Errorf("started: %+v", started)
	}
}

func TestOneMessageWhenProcessesShareWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 hour\nsend \"welcome\"\nwait 1 hour\nsend \"tips\"")
		var ids []string
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			ids = append(ids, w.add(t, name, nil))
			w.act(t, ids[len(ids)-1], "signup", w.Now())
		}
		other := w.newRunner()
		for range 6 {
			for range 4 {
				done := make(chan error, 2)
				go func() { done <- w.runner.Look(t.Context()) }()
				go func() { done <- other.Look(t.Context()) }()
				must(t, <-done)
				must(t, <-done)
				w.runner.Join()
				other.Join()
				must(t, w.mailer.Look(t.Context()))
				w.mailer.Join()
			}
			w.set(w.Now().Add(time.Hour))
		}
		for _, contact := range ids {
			w.tells(t, id, contact, "enrolled; 0 step_entered; 0 wait_started; 0 wait_met; 1 step_entered; 2 step_entered; 2 wait_started; 2 wait_met; 3 step_entered; 3 completed")
		}
		if len(w.sent) != 2*len(ids) {
			t.Errorf("%d messages were sent, want %d", len(w.sent), 2*len(ids))
		}
	})
}

func TestVersions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 day\nsend \"welcome\"")
		old := w.add(t, "old", nil)
		w.act(t, old, "signup", w.Now())
		w.settle(t)
		found, err := workflowstore.New(w.db.DB).Workflow(t.Context(), w.org, id)
		must(t, err)
		_, err = w.Save(t.Context(), w.org, workflows.Definition{WorkflowID: id, Source: "workflow \"W\" v1 {\nenter on activity.signup\nsend \"tips\"\n}\n"})
		must(t, err)
		between := w.add(t, "between", nil)
		w.act(t, between, "signup", w.Now())
		w.settle(t) // a saved draft has no effect
		_, err = w.Activate(t.Context(), w.org, id, workflows.Activation{})
		must(t, err)
		late := w.add(t, "late", nil)
		w.advance(t, time.Second)
		w.act(t, late, "signup", w.Now())
		w.settle(t)
		w.advance(t, day)
		for name, want := range map[string]string{"old": "welcome", "between": "welcome", "late": "tips"} {
			if got := w.mails(name); got != want {
				t.Errorf("%s got %q, want %q", name, got, want)
			}
		}
		if found.CurrentVersion != 1 || w.runs(t, id, late)[0].Version != 2 || w.runs(t, id, old)[0].Version != 1 {
			t.Errorf("the versions are %d, %+v", found.CurrentVersion, w.runs(t, id, late))
		}
	})
}
