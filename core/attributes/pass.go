package attributes

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	passEvery = 15 * time.Second
	passLimit = 10 * time.Minute
	// passStep is the maximum number of contacts that the job "attribute_pass" converts in
	// one transaction.
	passStep = 500
)

// PassArgs is the argument of the job that converts stored contacts after a change of
// attributes. It is empty, because the job needs no data.
type PassArgs struct{}

// Kind returns the name of the job that converts stored attribute values to the current
// attribute definitions.
func (PassArgs) Kind() string { return "attribute_pass" }

// PassWorker returns the job that converts the values of stored contacts after a change of
// the attribute registry. It continues where an interrupted run stopped.
func (a *Attributes) PassWorker() jobs.Worker[PassArgs] {
	return jobs.Worker[PassArgs]{Every: passEvery, Timeout: passLimit, Work: func(ctx context.Context, _ PassArgs) error {
		return jobs.ForEachOrg(ctx, "", a.Passes.PassesDue, "attribute pass", a.passContacts)
	}}
}

// passContacts converts the stored attribute values of one organization's contacts to the
// current attribute definitions. One transaction converts at most passStep contacts.
func (a *Attributes) passContacts(ctx context.Context, orgID string) error {
	started, changed := a.Clock(), 0
	for {
		var passed Passed
		err := a.Transactor.InTx(ctx, func(ctx context.Context) error {
			var err error
			if passed, err = a.Passes.Pass(ctx, orgID, passStep); err != nil {
				return err
			}
			return a.reportChanged(ctx, orgID, passed.Changed)
		})
		if err != nil {
			return err
		}
		changed += len(passed.Changed)
		if passed.Done {
			a.Log.InfoContext(ctx, "contacts updated to the attribute registry", "org_id", orgID, "changed", changed, "took", a.Clock().Sub(started))
			return nil
		}
	}
}

// PassProgress returns how far the conversion of the organization's stored contacts is. It
// counts contacts while a conversion is due.
func (a *Attributes) PassProgress(ctx context.Context, orgID string) (Progress, error) {
	return a.Passes.PassProgress(ctx, orgID)
}

func (a *Attributes) reportChanged(ctx context.Context, orgID string, contactIDs []string) error {
	if a.OnChange == nil || len(contactIDs) == 0 {
		return nil
	}
	return a.OnChange(ctx, orgID, contactIDs)
}
