package runner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

func TestHeldMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nsend \"welcome\"\nsend \"tips\"")
		_, err := w.SetApproval(t.Context(), w.org, id, true)
		must(t, err)
		ids := map[string]string{}
		for _, name := range []string{"approved", "skipped", "cancelled", "waiting"} {
			ids[name] = w.add(t, name, nil)
			w.act(t, ids[name], "signup", w.Now())
		}
		w.settle(t)
		held, err := workflowstore.NewRunStore(w.db.DB).Held(t.Context(), w.org, "", "", 10)
		must(t, err)
		if len(held) != 4 || len(w.sent) != 0 {
			t.Fatalf("%d held, %d sent", len(held), len(w.sent))
		}
		for name, decision := range map[string]engine.Phase{"approved": engine.Approved, "skipped": engine.Skipped, "cancelled": engine.Cancelled} {
			run := w.runs(t, id, ids[name])[0]
			for _, want := range []int{1, 0} { // the second decision finds none
				decided, err := w.Decide(t.Context(), w.org, id, []string{run.ID}, decision)
				must(t, err)
				if len(decided) != want {
					t.Errorf("%s: %d decided, want %d", name, len(decided), want)
				}
			}
		}
		w.settle(t)
		for name, want := range map[string]string{
			"approved": "enrolled; 0 step_entered; 0 send_held; 1 step_entered; 1 send_held", "skipped": "enrolled; 0 step_entered; 0 send_held; 0 send_skipped; 1 step_entered; 1 send_held",
			"cancelled": "enrolled; 0 step_entered; 0 send_held; 0 exited cancelled", "waiting": "enrolled; 0 step_entered; 0 send_held",
		} {
			w.tells(t, id, ids[name], want)
		}
		if w.mails("approved") != "welcome" || len(w.sent) != 1 {
			t.Errorf("%d were sent, and approved got %q", len(w.sent), w.mails("approved"))
		}
		counts, err := workflowstore.NewRunStore(w.db.DB).CountHeld(t.Context(), w.org)
		must(t, err)
		if counts[id] != 3 {
			t.Errorf("%v are held", counts)
		}
	})
}

func TestFilteredMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nfrequency cap 2 per week\nsend \"welcome\" via topic news\nsend \"tips\" transactional\nsend \"offer\"")
		ids := map[string]string{}
		for _, name := range []string{"all", "none", "out", "suppressed"} {
			ids[name] = w.add(t, name, nil)
		}
		w.edit(t, ids["none"], func(c *contacts.Contact) { c.UnsubscribeAll = true })
		w.edit(t, ids["out"], func(c *contacts.Contact) {
			c.TopicPreferences = []topics.Preference{{Topic: "news", SubscriptionStatus: sending.OptOut}}
		})
		must(t, w.db.SegmentChanges().AddSuppressed(t.Context(), w.org, []string{"suppressed@example.com"}))
		for _, contact := range ids {
			w.act(t, contact, "signup", w.Now())
		}
		w.settle(t)
		for name, want := range map[string]string{
			"all":        "enrolled; 0 step_entered; 1 step_entered; 2 step_entered; 2 send_filtered frequency_cap; 2 completed",
			"none":       "enrolled; 0 step_entered; 0 send_filtered unsubscribed_all; 1 step_entered; 2 step_entered; 2 send_filtered unsubscribed_all; 2 completed",
			"out":        "enrolled; 0 step_entered; 0 send_filtered opted_out; 1 step_entered; 2 step_entered; 2 completed",
			"suppressed": "enrolled; 0 step_entered; 0 send_filtered suppressed; 1 step_entered; 1 send_filtered suppressed; 2 step_entered; 2 send_filtered suppressed; 2 completed",
		} {
			w.tells(t, id, ids[name], want)
		}
		sends, err := workflowstore.NewRunStore(w.db.DB).Sends(t.Context(), w.org, id, 1)
		must(t, err)
		sum := workflows.SendCount{}
		for _, s := range sends {
			sum.Sent, sum.Filtered = sum.Sent+s.Sent, sum.Filtered+s.Filtered
		}
		if sum.Sent != 5 || sum.Filtered != 7 {
			t.Errorf("the sends are %+v", sends)
		}
	})
}

func TestCapOfTheOrganization(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		must(t, w.SetCap(t.Context(), w.org, &language.Cap{Messages: 1, Per: language.Duration{Amount: 2, Unit: predicate.Day}}))
		first := w.launch(t, "enter on activity.signup\nsend \"welcome\"\nwait 3 days\nsend \"tips\"")
		second := w.launch(t, "enter on activity.signup\nwait 1 hour\nsend \"offer\"")
		free := w.launch(t, "enter on activity.signup\nfrequency cap off\nwait 2 hours\nsend \"offer\"")
		ada := w.add(t, "ada", nil)
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		w.advance(t, time.Hour)
		w.advance(t, time.Hour)
		w.advance(t, 3*day)
		w.tells(t, first, ada, "enrolled; 0 step_entered; 1 step_entered; 1 wait_started; 1 wait_met; 2 step_entered; 2 completed")
		w.tells(t, second, ada, "enrolled; 0 step_entered; 0 wait_started; 0 wait_met; 1 step_entered; 1 send_filtered frequency_cap; 1 completed")
		w.tells(t, free, ada, "enrolled; 0 step_entered; 0 wait_started; 0 wait_met; 1 step_entered; 1 completed")
	})
}

func TestConsentJustBeforeTheMessage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nsend \"welcome\"\nsend \"tips\"")
		ada := w.add(t, "ada", nil)
		w.act(t, ada, "signup", w.Now())
		must(t, w.runner.Look(t.Context()))
		w.runner.Join() // the message waits for the mailer
		w.edit(t, ada, func(c *contacts.Contact) { c.UnsubscribeAll = true })
		w.settle(t)
		w.tells(t, id, ada, "enrolled; 0 step_entered; 0 send_filtered unsubscribed_all; 1 step_entered; 1 send_filtered unsubscribed_all; 1 completed")
	})
}

func TestRefusedAndThrottledMessages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nsend \"welcome\"\nwait 1 hour\nsend \"tips\"")
		bad, slow := w.add(t, "bad", nil), w.add(t, "slow", nil)
		kind := sending.Throttled
		w.answer = func(m sending.Message) error {
			switch {
			case m.To[0] == "bad@example.com":
				return &sending.Failure{Kind: sending.Rejected, Err: errors.New("no")}
			case kind != "":
				return &sending.Failure{Kind: kind, Err: errors.New("slowly")}
			}
			return nil
		}
		w.act(t, bad, "signup", w.Now())
		w.act(t, slow, "signup", w.Now())
		w.settle(t)
		if got := w.mails("slow"); got != "" {
			t.Errorf("slow got %q", got)
		}
		kind = ""
		for range 4 {
			w.advance(t, time.Hour)
		}
		if got := w.mails("slow"); got != "welcome, tips" {
			t.Errorf("slow got %q", got)
		}
		story := w.story(t, id, bad)
		if run := w.runs(t, id, bad)[0]; run.State.Status != engine.Completed || len(story) == 0 {
			t.Errorf("bad is %s: %s", run.State.Status, story)
		}
		sends, err := workflowstore.NewRunStore(w.db.DB).Sends(t.Context(), w.org, id, 1)
		must(t, err)
		if len(sends) != 2 || sends[0].Sent != 1 || sends[0].Failed != 1 {
			t.Errorf("the sends are %+v", sends)
		}
	})
}

func TestRunThatCannotMove(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nset attr.visits = 1\nsend \"welcome\"")
		good, bad := w.add(t, "good", nil), w.add(t, "bad", nil)
		w.broken[bad] = true
		w.act(t, bad, "signup", w.Now())
		w.act(t, good, "signup", w.Now())
		w.settle(t)
		if got := w.mails("good"); got != "welcome" {
			t.Errorf("good got %q", got)
		}
		if run := w.runs(t, id, bad)[0]; run.State.Status != engine.Active || run.Faults != 1 {
			t.Errorf("the run is %+v", run)
		}
		for range 5 {
			w.advance(t, 5*time.Hour)
		}
		if run := w.runs(t, id, bad)[0]; run.State.Status != engine.Failed || run.CompletedAt == nil {
			t.Errorf("the run is %+v", run)
		}
	})
}

// TestCapAtItsEnd sends a second message exactly one day after the first. The first one still
// counts, as in simulations.
func TestCapAtItsEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nfrequency cap 1 per day\nsend \"welcome\"\nwait 1 day\nsend \"tips\"")
		ada := w.add(t, "ada", nil)
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		w.advance(t, day)
		w.tells(t, id, ada, "enrolled; 0 step_entered; 1 step_entered; 1 wait_started; 1 wait_met; 2 step_entered; 2 send_filtered frequency_cap; 2 completed")
	})
}

// skippingTimers skips the first due run when one run is read for the second time, as if another
// process had locked it.
type skippingTimers struct {
	workflows.TimerStore
	reads int
}

func (s *skippingTimers) Due(ctx context.Context, orgID, workflowID string, now time.Time, limit int) ([]workflows.Run, error) {
	if limit > 1 {
		return s.TimerStore.Due(ctx, orgID, workflowID, now, limit)
	}
	if s.reads++; s.reads != 2 {
		return s.TimerStore.Due(ctx, orgID, workflowID, now, limit)
	}
	due, err := s.TimerStore.Due(ctx, orgID, workflowID, now, 2)
	return due[1:], err
}

func TestFaultCountsForTheRunThatFailed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 hour\nset attr.visits = 1")
		bad, good := w.add(t, "bad", nil), w.add(t, "good", nil)
		w.broken[bad] = true
		w.act(t, bad, "signup", w.Now())
		w.settle(t)
		w.set(w.Now().Add(time.Second))
		w.act(t, good, "signup", w.Now())
		w.settle(t)
		w.runner.Timers = &skippingTimers{TimerStore: workflowstore.NewTimerStore(w.db.DB)}
		w.advance(t, time.Hour)
		if b, g := w.runs(t, id, bad)[0], w.runs(t, id, good)[0]; b.Faults != 1 || g.State.Status != engine.Completed {
			t.Errorf("the runs are %+v and %+v", b, g)
		}
	})
}
