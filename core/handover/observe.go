package handover

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/messages"
)

// Observer stores what events of the provider prove about recipients. It is a
// [messages.Recorder].
type Observer struct {
	Store Store
	Clock core.Clock
}

// ObserveEvents stores that the messages of the events were sent. It ignores events of
// messages that Mailhelm did not pass to the account.
func (o Observer) ObserveEvents(ctx context.Context, orgID string, events []messages.Event) error {
	var seen []Evidence
	for _, e := range events {
		if e.Mail.Send != "" && e.Mail.SendRecipient != "" {
			seen = append(seen, Evidence{SendID: e.Mail.Send, Key: e.Mail.SendRecipient, MessageID: e.MessageID})
		}
	}
	if len(seen) == 0 {
		return nil
	}
	byRecipient := func(a, b Evidence) int {
		return cmp.Or(strings.Compare(a.SendID, b.SendID), strings.Compare(a.Key, b.Key))
	}
	slices.SortFunc(seen, byRecipient)
	seen = slices.CompactFunc(seen, func(a, b Evidence) bool { return byRecipient(a, b) == 0 })
	return o.Store.Observe(ctx, orgID, seen, o.Clock())
}

// giveUpBatch is the number of attempts that one statement gives up.
const giveUpBatch = 1000

// giveUpEvery is the interval of the job that gives up attempts.
const giveUpEvery = time.Minute

// GiveUpArgs has the arguments of the job that gives up attempts, which takes none.
type GiveUpArgs struct{}

// Kind returns the name of the job that gives up attempts.
func (GiveUpArgs) Kind() string { return "handover_give_up" }

// GiveUpWorker returns the job that gives up, every minute, the attempts of all organizations
// whose outcome is unknown after [Patience].
func GiveUpWorker(store Store, orgs func(context.Context) ([]string, error), clock core.Clock) jobs.Worker[GiveUpArgs] {
	return jobs.Worker[GiveUpArgs]{Every: giveUpEvery, Work: func(ctx context.Context, _ GiveUpArgs) error {
		return jobs.ForEachOrg(ctx, "", orgs, "unknown outcomes of messages", func(ctx context.Context, orgID string) error {
			for {
				n, err := store.GiveUp(ctx, orgID, clock(), giveUpBatch)
				if err != nil || n < giveUpBatch {
					return err
				}
			}
		})
	}}
}
