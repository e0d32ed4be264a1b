package incoming

import (
	"context"

	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// SweepWorker returns the job that deletes objects of mail that was not accepted. holders have
// the messages that were accepted, the queue first.
func (p *Parts) SweepWorker(orgs func(context.Context) ([]string, error), holders ...spool.Holder) jobs.Worker[spool.SweepArgs] {
	return spool.NewSweeper(spool.SweepConfig{Places: p.stored.Locator, Holders: holders, Orgs: orgs, Clock: p.cfg.Clock, Log: p.cfg.Log}).Worker()
}
