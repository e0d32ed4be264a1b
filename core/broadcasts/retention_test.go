package broadcasts_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/core/sending"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
)

// TestOldRecipients deletes old recipients. Those of a broadcast that still sends stay, whatever
// their age, because its numbers are counted at the end. Later its list becomes shorter, and its
// numbers stay, also when a late event arrives.
func TestOldRecipients(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ids := w.add(t, person{email: "ok@x.example"}, person{email: "lost@x.example"})
		w.answer = func(m sending.Message) error {
			if m.To[0] == "lost@x.example" {
				return &sending.Failure{Kind: sending.TimedOut, Err: errors.New("no answer")}
			}
			return nil
		}
		id := w.draft(t, template)
		w.send(t, id)
		w.dispatch(t, "one")
		deleted := func() int {
			t.Helper()
			n, err := retentionstore.New(w.db.DB).DeleteOld(t.Context(), w.org, retention.Recipients, w.Now(), 1)
			must(t, err)
			return n
		}
		w.advance(time.Hour)
		if n := deleted(); n != 0 || w.read(t, id).State != broadcasts.Sending {
			t.Errorf("%d recipients of a broadcast that sends are deleted", n)
		}
		_, err := w.db.Handover().GiveUp(t.Context(), w.org, w.Now(), 10)
		must(t, err)
		w.dispatch(t, "one")
		ended := w.read(t, id)
		if ended.Sent != 1 || ended.Failed != 1 {
			t.Fatalf("%+v", ended)
		}
		w.advance(time.Hour)
		if n := deleted(); n != 1 {
			t.Errorf("%d recipients of an ended broadcast are deleted", n)
		}
		seen, err := w.db.Handover().Observe(t.Context(), w.org, evidence(id, ids[1]), w.Now())
		must(t, err)
		must(t, w.dispatcher("one").Recount(t.Context(), w.org))
		if b := w.read(t, id); seen != 1 || b.Sent != 1 || b.Failed != 1 {
			t.Errorf("after %d late events: %+v", seen, b)
		}
		if got := w.results(t, id); len(got) != 1 || got["lost@x.example"] != "sent" {
			t.Errorf("results: %v", got)
		}
	})
}
