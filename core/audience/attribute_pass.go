package audience

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	passEvery = 15 * time.Second
	passLimit = 10 * time.Minute
	// passStep is how many contacts one transaction holds.
	passStep = 500
)

// AttributePassArgs are the arguments of the pass over contacts.
type AttributePassArgs struct{}

// Kind names the job.
func (AttributePassArgs) Kind() string { return "attribute_pass" }

// AttributePassWorker lets stored contacts follow the changes of the registry. It
// goes on where it was when it was interrupted.
func (a *Audience) AttributePassWorker() jobs.Worker[AttributePassArgs] {
	return jobs.Worker[AttributePassArgs]{Every: passEvery, Timeout: passLimit, Work: func(ctx context.Context, _ AttributePassArgs) error {
		return jobs.ForEachOrg(ctx, "", a.Store.PassesDue, "attribute pass", a.pass)
	}}
}

func (a *Audience) pass(ctx context.Context, orgID string) error {
	started, changed := a.Clock(), 0
	for {
		var passed Passed
		err := a.Transactor.InTx(ctx, func(ctx context.Context) error {
			var err error
			if passed, err = a.Store.Pass(ctx, orgID, passStep); err != nil {
				return err
			}
			return a.changed(ctx, orgID, passed.Changed...)
		})
		if err != nil {
			return err
		}
		changed += len(passed.Changed)
		if passed.Done {
			a.Log.InfoContext(ctx, "contacts follow the attribute registry", "org_id", orgID, "changed", changed, "took", a.Clock().Sub(started))
			return nil
		}
	}
}
