package receiving

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/workpool"
)

const (
	// publishEvery is how often a publisher looks for changes that other processes made.
	publishEvery = time.Second
	// publishLimit is the number of domains that one process publishes at the same time.
	publishLimit = 16
	// lookAgain is how long a change rests whose webhook could not be looked up, and restAfter
	// how long one rests that could not be stored.
	lookAgain = 30 * time.Second
	restAfter = 5 * time.Second
	// candidates is how many changes one look reads. Processes begin different ones.
	candidates = 8 * publishLimit
)

// Hosts looks up the hosts of webhooks.
type Hosts interface {
	// Resolve returns standardhooks.NoProblem if the host of a URL has addresses and this
	// server may connect to all of them. It returns UnknownHost or RefusedAddress otherwise, and
	// NotConnected if no name server answered.
	Resolve(ctx context.Context, url string) standardhooks.Problem
}

// unfitHost says why the host of a webhook cannot be used, for a problem of its lookup. It
// returns "" if the lookup says nothing about the host, because no name server answered.
func unfitHost(p standardhooks.Problem) string {
	switch p {
	case standardhooks.UnknownHost:
		return "must have a host that the DNS knows"
	case standardhooks.RefusedAddress:
		return "must have a host whose addresses are all on the public Internet"
	}
	return ""
}

// PublisherConfig configures a [Publisher]. All fields are required.
type PublisherConfig struct {
	Store RoutingStore
	Hosts Hosts
	// Networks is true if the operator allows webhooks in private networks.
	Networks bool
	Clock    core.Clock
	Log      *slog.Logger
}

// Publisher publishes changes of receiving domains. Each process that runs jobs has one. If two
// publish the same change, the second does nothing.
type Publisher struct {
	cfg  PublisherConfig
	pool *workpool.Pool[Target]
}

// NewPublisher returns a Publisher.
func NewPublisher(cfg PublisherConfig) *Publisher {
	p := &Publisher{cfg: cfg}
	p.pool = workpool.New(workpool.Config[Target]{
		Limit: publishLimit, RetryAfter: restAfter, Clock: cfg.Clock, Log: cfg.Log, Do: p.publish,
		Find: func(ctx context.Context, _ int) ([]Target, error) {
			return cfg.Store.Changed(ctx, cfg.Clock(), candidates)
		},
		FindFailed: "changes of receiving domains wait to be published", DoFailed: "a receiving domain is not published",
		Attributes: func(t Target) []any { return []any{"org_id", t.OrgID, "domain_id", t.DomainID} },
	})
	return p
}

// Wake lets the publisher look at once. It does not block.
func (p *Publisher) Wake() { p.pool.Wake() }

// Run publishes changes until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	ticker := time.NewTicker(publishEvery)
	defer ticker.Stop()
	p.pool.Follow(ctx, ticker.C)
}

// PublishDue publishes the changes that are due now. Tests call it in place of Run.
func (p *Publisher) PublishDue(ctx context.Context) error {
	err := p.pool.Look(ctx)
	p.pool.Join()
	return err
}

// publish publishes a domain. It validates the webhook again, because the host may have other
// addresses than when the webhook was saved.
func (p *Publisher) publish(ctx context.Context, t Target) (time.Time, error) {
	c, found, err := p.cfg.Store.Change(ctx, t)
	if err != nil || !found {
		return time.Time{}, err
	}
	publication := Publication{Change: c, At: p.cfg.Clock()}
	if c.Verified && !c.Deleted && c.URL != "" {
		fault, known := p.judge(ctx, c.URL)
		if !known {
			return time.Time{}, p.cfg.Store.PutOff(ctx, c, p.cfg.Clock().Add(lookAgain))
		}
		if fault != "" {
			publication.Fault = "The URL " + fault + "."
			publication.Document = Document{}
		}
	}
	return time.Time{}, p.cfg.Store.Publish(ctx, publication)
}

// judge says what is wrong with the URL of a webhook, "" for nothing. It reports false if that
// is unknown, because no name server answered.
func (p *Publisher) judge(ctx context.Context, url string) (string, bool) {
	if err := standardhooks.CheckURL(url, p.cfg.Networks); err != nil {
		return core.AsError(err).Fields[0].Reason, true
	}
	problem := p.cfg.Hosts.Resolve(ctx, url)
	fault := unfitHost(problem)
	return fault, fault != "" || problem == standardhooks.NoProblem
}
