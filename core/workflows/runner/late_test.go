package runner_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sendevents"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/workflows/mailing"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// hasSent checks the counts of the only send step of a workflow, and whether the cap counts the
// message.
func (w *world) hasSent(t *testing.T, workflowID, contactID string, sent, failed int) {
	t.Helper()
	sends, err := workflowstore.NewRunStore(w.db.DB).Sends(t.Context(), w.org, workflowID, 1)
	must(t, err)
	times, err := workflowstore.NewMailStore(w.db.DB).Mailed(t.Context(), w.org, []string{contactID}, start)
	must(t, err)
	if len(sends) != 1 || sends[0].Sent != sent || sends[0].Failed != failed || len(times[contactID]) != sent {
		t.Errorf("the sends are %+v and %d messages count for the cap, want %d sent and %d failed", sends, len(times[contactID]), sent, failed)
	}
}

// giveUp lets the time pass after which the outcome of a message counts as unknown.
func (w *world) giveUp(t *testing.T, now time.Time) {
	t.Helper()
	given, err := w.db.Handover().GiveUp(t.Context(), w.org, now, 10)
	must(t, err)
	if given != 1 {
		t.Errorf("%d messages were given up, want 1", given)
	}
}

const lateStory = "enrolled; 0 step_entered; 0 send_failed outcome_unknown; 0 completed"

// TestEventAfterTheMessageWasGivenUp lets an event prove after the run has continued that the
// message was sent.
func TestEventAfterTheMessageWasGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nsend \"welcome\"")
		ada := w.add(t, "ada", nil)
		var passed sending.Message
		w.answer = func(m sending.Message) error {
			passed = m
			return &sending.Failure{Kind: sending.TimedOut, Err: errors.New("no answer")}
		}
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		w.set(w.Now().Add(handover.Patience))
		w.giveUp(t, w.Now())
		w.settle(t)
		w.hasSent(t, id, ada, 0, 1)
		observer := sendevents.Observer{Store: w.db.Handover(), Corrected: mailing.Corrected(workflowstore.NewMailStore(w.db.DB)), Clock: w.Now}
		for _, key := range []string{core.NewID(), passed.Tags[core.RecipientTag]} {
			event := messages.Event{MessageID: "late", Type: messages.Delivery, Mail: messages.Mail{Send: passed.Tags[core.SendTag], SendRecipient: key}}
			must(t, observer.ObserveEvents(t.Context(), w.org, []messages.Event{event}))
			if key != passed.Tags[core.RecipientTag] {
				w.hasSent(t, id, ada, 0, 1)
			}
		}
		w.hasSent(t, id, ada, 1, 0)
		w.tells(t, id, ada, lateStory)
	})
}

// TestAnswerAfterTheMessageWasGivenUp lets the account answer after another process has given up
// the message and let the run continue.
func TestAnswerAfterTheMessageWasGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nsend \"welcome\"")
		ada := w.add(t, "ada", nil)
		w.answer = func(m sending.Message) error {
			w.now = w.now.Add(handover.Patience) // the lock is held
			w.giveUp(t, w.now)
			settled, err := workflowstore.NewMailStore(w.db.DB).Settle(t.Context(), w.org, m.Tags[core.SendTag], w.now, 10)
			must(t, err)
			if settled != 1 {
				t.Errorf("%d messages were settled, want 1", settled)
			}
			return nil
		}
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		w.hasSent(t, id, ada, 1, 0)
		w.tells(t, id, ada, lateStory)
	})
}

// TestVerifiedDomainEndsTheWait lets a message rest because the organization has no verified
// domain. Retry lets it leave at once, also if it was called during the attempt that failed.
func TestVerifiedDomainEndsTheWait(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		sender, during := "", func() {}
		w.sender = func() string {
			read := sender
			during()
			return read
		}
		w.launch(t, "enter on activity.signup\nsend \"welcome\"\nsend \"tips\"")
		ada, bob := w.add(t, "ada", nil), w.add(t, "bob", nil)
		w.act(t, ada, "signup", w.Now())
		w.settle(t)
		sender = "us@example.org"
		w.mailer.Retry(core.NewID()) // of another organization
		w.settle(t)
		if got := w.mails("ada"); got != "" {
			t.Errorf("ada got %q while the message rests", got)
		}
		w.mailer.Retry(w.org)
		w.settle(t)
		if got := w.mails("ada"); got != "welcome, tips" {
			t.Errorf("ada got %q", got)
		}

		sender = ""
		during = func() {
			during, sender = func() {}, "us@example.org"
			w.mailer.Retry(w.org)
		}
		w.act(t, bob, "signup", w.Now())
		w.settle(t)
		if got := w.mails("bob"); got != "welcome, tips" {
			t.Errorf("bob got %q", got)
		}
	})
}
