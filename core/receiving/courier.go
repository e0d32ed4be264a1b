package receiving

import (
	"context"
	"errors"
	"fmt"
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
	// lease is how long a process may send to an endpoint without extending its lease. It is
	// longer than the attempts that it has begun. After a crash, the endpoint is free at its end.
	lease = 3 * standardhooks.Timeout
	// laneSize is the maximum number of slow endpoints that one process sends to at the same
	// time, and also the number of the others.
	laneSize = 64
	// batch is how many deliveries are read at once.
	batch = 8 * InFlight
	// turn is how long an endpoint with many due deliveries is served before others may be.
	turn = 5 * time.Second
	// slowFrom is the duration of an attempt from which an endpoint counts as slow.
	slowFrom = 2 * time.Second
	// settleTimeout limits the write of results, also while the process stops.
	settleTimeout = 5 * time.Second
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
}

// NewCourier returns a Courier.
func NewCourier(cfg CourierConfig) *Courier {
	c := &Courier{CourierConfig: cfg}
	c.fast, c.slow = c.lane(false), c.lane(true)
	c.results = groupcommit.New(groupcommit.Config[Result]{Commit: cfg.Queue.Settle, Max: batch, Timeout: settleTimeout})
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
		Limit: laneSize, RetryAfter: lease, Clock: c.Clock, Log: c.Log,
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

// serve sends due deliveries of an endpoint. It returns when none is due, after its turn, when
// the lease is lost, or when an endpoint of the fast lane turns out to be slow. The turn of a slow
// endpoint is one batch.
func (c *Courier) serve(ctx context.Context, t Target, slow bool) error {
	now := c.Clock()
	e, leased, err := c.Queue.Lease(ctx, t, now, now.Add(lease))
	if err != nil || !leased {
		return err
	}
	defer c.release(ctx, e)
	secret, err := OpenSecret(c.Sealer, e.OrgID, e.DomainID, e.Secret)
	if err != nil {
		return err
	}
	for {
		items, err := c.Queue.Items(ctx, e, c.Clock(), batch)
		if err != nil || len(items) == 0 {
			return err
		}
		wasSlow, err := c.sendAll(ctx, e, secret, items, slow)
		if err != nil || ctx.Err() != nil || slow || wasSlow || c.Clock().Sub(now) >= turn {
			return err
		}
		held, err := c.Queue.Extend(ctx, e, c.Clock().Add(lease))
		if err != nil || !held {
			return err
		}
	}
}

// release ends the lease of an endpoint, so that deliveries that become due need not wait for
// its end.
func (c *Courier) release(ctx context.Context, e Endpoint) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := c.Queue.Release(lasting, e, c.Clock()); err != nil {
		c.Log.WarnContext(ctx, "the lease of an endpoint for received mail ends by itself", "org_id", e.OrgID, "domain_id", e.DomainID, "error", err)
	}
}

// sendAll sends deliveries, InFlight at the same time, and stores their results. After an
// attempt that was slow or failed it begins no other, except in the lane of slow endpoints one
// of InFlight more: so all attempts end within the lease. It reports whether there was such an
// attempt.
func (c *Courier) sendAll(ctx context.Context, e Endpoint, secret string, items []Item, slow bool) (bool, error) {
	if slow {
		items = items[:min(len(items), InFlight)]
	}
	next := make(chan Item, len(items))
	for _, item := range items {
		next <- item
	}
	close(next)
	var (
		senders sync.WaitGroup
		mu      sync.Mutex
		stop    bool
		failure error
	)
	stopped := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return stop
	}
	for range min(InFlight, len(items)) {
		senders.Go(func() {
			for item := range next {
				if stopped() || ctx.Err() != nil {
					return
				}
				wasSlow, err := c.send(ctx, e, secret, item)
				mu.Lock()
				stop = stop || wasSlow || err != nil
				failure = errors.Join(failure, err)
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	return stop, failure
}

// send makes one attempt and stores its result. It stores no result of an attempt that the end
// of the process interrupted: the delivery stays due. It reports whether the attempt was slow or
// failed.
func (c *Courier) send(ctx context.Context, e Endpoint, secret string, item Item) (bool, error) {
	start := c.Clock()
	answer, err := c.attempt(ctx, e, secret, item, start)
	if err != nil || ctx.Err() != nil && !answer.Delivered() {
		return true, err
	}
	r := resultOf(e, item, answer, start, c.Clock())
	if err := c.results.Do(context.WithoutCancel(ctx), r); err != nil {
		return true, fmt.Errorf("result of delivery %s: %w", item.ID, err)
	}
	return r.Slow, nil
}

// attempt sends a delivery. An attempt that could not be made because of the message itself
// counts as one that failed, so that a damaged message does not stop the others. It fails only
// if the database does.
func (c *Courier) attempt(ctx context.Context, e Endpoint, secret string, item Item, now time.Time) (answer standardhooks.Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			c.Log.ErrorContext(ctx, "the payload of a received message panicked", "org_id", e.OrgID, "message_id", item.MessageID, "error", core.PanicText(v))
			answer, err = standardhooks.Answer{Problem: standardhooks.NotSent}, nil
		}
	}()
	m, err := c.Store.Content(ctx, e.OrgID, item.MessageID)
	if core.IsNotFound(err) {
		return standardhooks.Answer{Problem: contentGone}, nil
	}
	if err != nil {
		return standardhooks.Answer{}, err
	}
	body, err := bodyOf(ctx, c.Objects, e, item, m, now)
	if err != nil {
		c.Log.WarnContext(ctx, "a received message is not delivered now", "org_id", e.OrgID, "message_id", item.MessageID, "error", err)
		return standardhooks.Answer{Problem: storeFailed}, nil
	}
	return c.Sender.Post(ctx, standardhooks.Request{URL: e.URL, ID: item.ID, At: now, Body: body, Secrets: []string{secret}}), nil
}
