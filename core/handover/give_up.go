package handover

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

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
