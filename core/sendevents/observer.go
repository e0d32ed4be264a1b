// Package sendevents stores what message events prove about the recipients of sends: that the
// sending account accepted a message, also if its answer was lost.
package sendevents

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
)

// Observer stores what events of the provider prove about recipients. It is a
// [messages.Recorder].
type Observer struct {
	Store handover.Store
	// Corrected gets the evidence of events that changed recipients, in the same transaction.
	// It may also have evidence that changed nothing. nil means that no package of sends keeps
	// outcomes of its own.
	Corrected func(ctx context.Context, orgID string, seen []handover.Evidence) error
	Clock     core.Clock
}

// ObserveEvents stores that the messages of the events were sent. It ignores events of
// messages that Mailhelm did not pass to the account.
func (o Observer) ObserveEvents(ctx context.Context, orgID string, events []messages.Event) error {
	var seen []handover.Evidence
	for _, e := range events {
		if e.Mail.Send != "" && e.Mail.SendRecipient != "" {
			seen = append(seen, handover.Evidence{SendID: e.Mail.Send, Key: e.Mail.SendRecipient, MessageID: e.MessageID})
		}
	}
	if len(seen) == 0 {
		return nil
	}
	byRecipient := func(a, b handover.Evidence) int {
		return cmp.Or(strings.Compare(a.SendID, b.SendID), strings.Compare(a.Key, b.Key))
	}
	slices.SortFunc(seen, byRecipient)
	seen = slices.CompactFunc(seen, func(a, b handover.Evidence) bool { return byRecipient(a, b) == 0 })
	changed, err := o.Store.Observe(ctx, orgID, seen, o.Clock())
	if err != nil || changed == 0 || o.Corrected == nil {
		return err
	}
	return o.Corrected(ctx, orgID, seen)
}
