package dmarc

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// DomainStore stores what is known of domains.
type DomainStore interface {
	domainauth.Store
	domainauth.FigureStore
	domainauth.SourceStore
	domainauth.TimelineStore
}

// MeasuringStore stores polls, findings and events.
type MeasuringStore interface {
	measuring.PollStore
	measuring.RefreshStore
	measuring.PurgeStore
}

// newMeasuring returns what polls DNS, and computes findings and events.
func newMeasuring(cfg config.Config, s Stores) *measuring.Measuring {
	return measuring.New(measuring.Config{
		Polls: s.Measuring, Refreshes: s.Measuring, Purges: s.Measuring, Enroller: s.Domains, Tokens: s.Tokens, Resolver: s.Lookups.Resolver,
		IsPolled: polled{connections: s.Connections, simulated: cfg.PollSimulated}.isPolled, RowDays: domainauth.RowDays, KeptDays: domainauth.RetentionDays,
		Queue: s.Queue, Orgs: s.Orgs, Clock: cfg.Clock, Log: cfg.Log,
	})
}

// Operations returns the operations on domain authentication.
func (r *Reports) Operations() *domainauth.DomainAuth {
	c := domainauth.Config{Store: r.domains, Figures: r.domains, Sources: r.domains, Timeline: r.domains, Measurer: r.Measuring}
	if r.public {
		c.Address = r.Address
	}
	return domainauth.New(c)
}

// AddWorkers adds the jobs. Mails to members leave through steps. pages is the address of the
// dashboard's list of domains, to whose pages they link.
func (r *Reports) AddWorkers(queue *engine.Jobs, steps notices.Steps, pages string) {
	engine.AddWorker(queue, r.notices(steps, pages).Worker())
	engine.AddWorker(queue, r.purgeWorker())
	engine.AddWorker(queue, r.Measuring.EnrolWorker())
	engine.AddWorker(queue, r.Measuring.PollWorker())
	engine.AddWorker(queue, r.Measuring.RefreshWorker())
	engine.AddWorker(queue, r.Measuring.PurgeWorker())
}

// polled knows about which organizations DNS is asked.
type polled struct {
	connections sending.Connections
	// simulated reports whether DNS is asked about the domains of simulated accounts too.
	simulated bool
}

// isPolled reports whether DNS is asked about the domains of an organization. Domains of a
// simulated account are made up.
func (p polled) isPolled(ctx context.Context, orgID string) (bool, error) {
	if p.simulated {
		return true, nil
	}
	c, err := p.connections.Connection(ctx, orgID)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil && c.Provider != sending.Simulated, err
}
