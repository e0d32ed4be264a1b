package receiving

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/groupcommit"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/workpool"
)

// InFlight is the maximum number of deliveries that are sent to one endpoint at the same time,
// by all processes together.
const InFlight = 4

const (
	// pollEvery is how often a courier looks for due deliveries while it sends none.
	pollEvery = time.Second
	// lease is how long a process may send to an endpoint. It is longer than a turn, the attempts
	// that began in it and the write of their results. After a crash, the endpoint is free at its
	// end.
	lease = 3 * standardhooks.Timeout
	// laneSize is the maximum number of slow endpoints that one process sends to at the same
	// time, and also the number of the others.
	laneSize = 64
	// batch is how many deliveries are read at once.
	batch = 8 * InFlight
	// turnTime is how long an endpoint with many due deliveries is served before others may be.
	turnTime = 5 * time.Second
	// slowFrom is the duration of an attempt from which an endpoint counts as slow.
	slowFrom = 2 * time.Second
	// settleTimeout limits the write of results, also while the process stops.
	settleTimeout = 5 * time.Second
	// settleMost is the largest number of results in one transaction, and settleWait how long one
	// waits for further results. So a process makes at most a hundred such transactions a second.
	settleMost, settleWait = 256, 10 * time.Millisecond
	// retryAfter is how long an endpoint rests after the database failed in its turn.
	retryAfter = 5 * time.Second
)

// Sender makes one attempt to deliver a message. Every outcome is in the answer.
type Sender interface {
	Post(ctx context.Context, r standardhooks.Request) standardhooks.Answer
}

// CourierConfig configures a [Courier]. All fields are required.
type CourierConfig struct {
	Queue   Queue
	Store   DeliveryStore
	Objects objects.Stores
	Sealer  Sealer
	Sender  Sender
	Clock   core.Clock
	Log     *slog.Logger
}

// Courier sends due deliveries. Each process that runs jobs has one.
type Courier struct {
	CourierConfig
	fast, slow *workpool.Pool[Target]
	results    *groupcommit.Group[Result]
	// settled and released have the results of attempts and the ends of leases that an outage of
	// the database interrupted.
	settled  *workpool.Results[Result]
	released *workpool.Results[Endpoint]
}

// NewCourier returns a Courier.
func NewCourier(cfg CourierConfig) *Courier {
	c := &Courier{CourierConfig: cfg}
	c.settled = workpool.NewResults(cfg.Clock, func(ctx context.Context, r Result) error { return c.results.Do(ctx, r) })
	c.released = workpool.NewResults(cfg.Clock, func(ctx context.Context, e Endpoint) error {
		return cfg.Queue.Release(ctx, e, cfg.Clock())
	})
	c.fast, c.slow = c.lane(false), c.lane(true)
	c.results = groupcommit.New(groupcommit.Config[Result]{
		Commit: cfg.Queue.Settle, Max: settleMost, Gather: settleWait, Timeout: settleTimeout,
	})
	return c
}

// Wake lets the courier look for due deliveries at once. It does not block.
func (c *Courier) Wake() { c.fast.Wake() }

// Run sends deliveries until ctx ends, and returns when none is in flight. Slow and failing
// endpoints have their own lane, so that they cannot delay deliveries to the others.
func (c *Courier) Run(ctx context.Context) {
	var lanes sync.WaitGroup
	for _, lane := range []*workpool.Pool[Target]{c.fast, c.slow} {
		lanes.Go(func() {
			ticker := time.NewTicker(pollEvery)
			defer ticker.Stop()
			lane.Follow(ctx, ticker.C)
		})
	}
	lanes.Wait()
	c.settled.End(ctx)
	c.released.End(ctx)
}

// SendDue sends the deliveries that are due now, in both lanes, and returns when all attempts
// have ended. Tests call it in place of Run.
func (c *Courier) SendDue(ctx context.Context) error {
	for _, lane := range []*workpool.Pool[Target]{c.fast, c.slow} {
		err := lane.Look(ctx)
		lane.Join()
		if err != nil {
			return err
		}
	}
	return nil
}

// lane returns a pool whose items are endpoints that are slow, or the others.
func (c *Courier) lane(slow bool) *workpool.Pool[Target] {
	return workpool.New(workpool.Config[Target]{
		Limit: laneSize, RetryAfter: retryAfter, Clock: c.Clock, Log: c.Log, Before: c.storeKept,
		Find: func(ctx context.Context, room int) ([]Target, error) {
			return c.Queue.Due(ctx, slow, c.Clock(), 2*room)
		},
		Do: func(ctx context.Context, t Target) (time.Time, error) {
			return time.Time{}, c.serve(ctx, t, slow)
		},
		FindFailed: "deliveries of received mail wait", DoFailed: "deliveries of received mail to an endpoint wait",
		Attributes: func(t Target) []any { return []any{"org_id", t.OrgID, "domain_id", t.DomainID} },
	})
}

// storeKept stores what an outage of the database interrupted: first the results, so that no
// delivery is sent again because its endpoint is free.
func (c *Courier) storeKept(ctx context.Context) error {
	return errors.Join(c.settled.Retry(ctx), c.released.Retry(ctx))
}

// serve sends due deliveries of an endpoint in one turn. If others may stay due because the time
// of the turn is over, or a slow endpoint has recovered, it lets the fast lane look again.
func (c *Courier) serve(ctx context.Context, t Target, slow bool) error {
	began := c.Clock()
	e, leased, err := c.lease(ctx, t, began)
	if err != nil || !leased {
		return err
	}
	run := &turn{Courier: c, endpoint: e, slow: slow, began: began}
	if run.secret, err = OpenSecret(c.Sealer, e.OrgID, e.DomainID, e.Secret); err == nil {
		err = run.sendDue(ctx)
	}
	c.release(ctx, e, began.Add(lease))
	if err == nil && run.goesOn() {
		// The fast lane looks when this turn has left its lane, or at once.
		c.fast.EndRests(func(other Target) bool { return other == t })
	}
	return err
}

// lease leases an endpoint. The end of ctx does not interrupt it: a lease without a holder would
// delay the deliveries.
func (c *Courier) lease(ctx context.Context, t Target, now time.Time) (Endpoint, bool, error) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return c.Queue.Lease(lasting, t, now, now.Add(lease))
}

// release ends the lease of an endpoint, so that deliveries that become due need not wait for
// its end. After an outage of the database the lease ends when it answers again.
func (c *Courier) release(ctx context.Context, e Endpoint, until time.Time) {
	if err := c.released.Store(ctx, e, until); err != nil {
		c.Log.WarnContext(ctx, "the lease of an endpoint for received mail could not be ended", "org_id", e.OrgID, "domain_id", e.DomainID, "error", err)
	}
}
