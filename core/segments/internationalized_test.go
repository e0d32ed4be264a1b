package segments_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/messages"
)

// TestAddressesOfTheAccountAreThoseOfContacts checks that events and suppressions with the
// Unicode form of a domain count for the contact that has its ASCII form.
func TestAddressesOfTheAccountAreThoseOfContacts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const written = "Ann@M\u00dcNCHEN.example"
		must(t, w.write(t.Context(), "ann", func(c *contacts.Contact) { c.Email = "ann@xn--mnchen-3ya.example" }))
		w.put(t, "bob", nil)
		w.save(t, "opened", `count(open within 7d) >= 1`)
		w.save(t, "mailable", `subscribed to "news" and not suppressed`)
		w.follow(t)
		e := messages.Event{
			ID: core.NewID(), MessageID: core.NewID(), Type: messages.Open, OccurredAt: w.clock(), Recipient: written,
			Mail: messages.Mail{From: "us@example.org", To: []string{written}, SentAt: w.clock()},
		}
		must(t, w.db.InTx(t.Context(), func(ctx context.Context) error {
			if _, err := w.db.Messages().RecordEvents(ctx, w.org, []messages.Event{e}, w.clock()); err != nil {
				return err
			}
			return w.ObserveEvents(ctx, w.org, []messages.Event{e})
		}))
		w.follow(t)
		w.wantMembers(t, "opened", "ann")
		w.suppressed = []string{written}
		must(t, w.Sweep(t.Context(), w.org))
		w.wantMembers(t, "mailable", "bob")
	})
}
