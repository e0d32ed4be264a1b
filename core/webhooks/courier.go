package webhooks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/workpool"
)

const (
	// pollEvery is how often a courier looks for due deliveries while it sends none.
	pollEvery = time.Second
	// lease is how long a process may send a claimed delivery. It is longer than an attempt
	// and the write of its outcome. After a crash, the delivery is due again at its end.
	lease = 3 * standardhooks.Timeout
	// laneSize is the maximum number of deliveries that one process sends at the same time to
	// slow endpoints, and also the number for the others.
	laneSize = 64
	// slowFrom is the duration of an attempt from which an endpoint counts as slow.
	slowFrom = 2 * time.Second
	// claimTimeout limits a claim, also while the process stops.
	claimTimeout = 5 * time.Second
)

// Sender makes one attempt to deliver a message. Every outcome is in the answer.
type Sender interface {
	Post(ctx context.Context, r standardhooks.Request) standardhooks.Answer
}

// CourierConfig configures a [Courier]. All fields are required.
type CourierConfig struct {
	Queue      Queue
	Transactor core.Transactor
	Audit      access.AuditAppender
	Sealer     Sealer
	Sender     Sender
	Clock      core.Clock
	Log        *slog.Logger
}

// Courier sends due deliveries. Each process that runs jobs has one.
type Courier struct {
	CourierConfig
	fast, slow *workpool.Pool[*claim]
	results    *workpool.Results[result]
}

// NewCourier returns a Courier.
func NewCourier(cfg CourierConfig) *Courier {
	c := &Courier{CourierConfig: cfg}
	c.results = workpool.NewResults(cfg.Clock, c.store)
	c.fast, c.slow = c.lane(false), c.lane(true)
	return c
}

// Run sends deliveries until ctx ends, and returns when none is in flight. Slow and failing
// endpoints have their own lane, so that they cannot delay deliveries to the others.
func (c *Courier) Run(ctx context.Context) {
	var lanes sync.WaitGroup
	for _, lane := range []*workpool.Pool[*claim]{c.fast, c.slow} {
		lanes.Go(func() {
			ticker := time.NewTicker(pollEvery)
			defer ticker.Stop()
			lane.Follow(ctx, ticker.C)
		})
	}
	lanes.Wait()
	c.results.End(ctx)
}

// SendDue sends the deliveries that are due now, in both lanes, and returns when all
// attempts have ended. Tests call it in place of Run.
func (c *Courier) SendDue(ctx context.Context) error {
	for _, lane := range []*workpool.Pool[*claim]{c.fast, c.slow} {
		err := lane.Look(ctx)
		lane.Join()
		if err != nil {
			return err
		}
	}
	return nil
}

// claim is a delivery that this process may send until its lease ends.
type claim struct {
	Target
	endpoint Endpoint
	delivery Delivery
	until    time.Time
}

// result is the result of an attempt.
type result struct {
	*claim
	// answer is nil if the stop of the process interrupted the attempt. Then the delivery is due
	// again at once.
	answer *standardhooks.Answer
	// began and ended are the times of the attempt.
	began, ended time.Time
}

// lane returns a pool that sends deliveries to endpoints that are slow, or to the others.
// After each delivery it looks for due ones again, so that an endpoint with many deliveries
// need not wait for the next poll.
func (c *Courier) lane(slow bool) *workpool.Pool[*claim] {
	var lane *workpool.Pool[*claim]
	lane = workpool.New(workpool.Config[*claim]{
		Limit: laneSize, RetryAfter: lease, Clock: c.Clock, Log: c.Log, Before: c.results.Retry,
		Find: func(ctx context.Context, room int) ([]*claim, error) { return c.claimDue(ctx, slow, room) },
		Do: func(ctx context.Context, d *claim) (time.Time, error) {
			defer lane.Wake()
			c.send(ctx, d)
			return time.Time{}, nil
		},
		FindFailed: "webhook deliveries wait", DoFailed: "sending a webhook delivery panicked",
		Attributes: func(d *claim) []any {
			return []any{"org_id", d.OrgID, "endpoint_id", d.EndpointID, "delivery_id", d.delivery.ID}
		},
	})
	return lane
}

// claimDue claims at most room due deliveries. It returns those that it claimed also with the
// first error of the queue.
func (c *Courier) claimDue(ctx context.Context, slow bool, room int) (claims []*claim, err error) {
	targets, err := c.Queue.Due(ctx, slow, c.Clock(), room)
	for _, t := range targets {
		free := room - len(claims)
		if free == 0 {
			break
		}
		now := c.Clock()
		until := now.Add(lease)
		claimed, err := c.claim(ctx, t, now, until, min(free, InFlight))
		if err != nil {
			return claims, err
		}
		for _, d := range claimed.Deliveries {
			claims = append(claims, &claim{Target: t, endpoint: claimed.Endpoint, delivery: d, until: until})
		}
	}
	return claims, err
}

// claim claims due deliveries of an endpoint. The end of ctx does not interrupt it: deliveries
// that are claimed and not returned would wait for the end of the lease.
func (c *Courier) claim(ctx context.Context, t Target, now, until time.Time, most int) (Claimed, error) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	return c.Queue.Claim(lasting, t, now, until, most)
}

// send makes one attempt and stores its outcome. An attempt that the stop of the process
// interrupts has no outcome: the delivery is due again at once. Results that an outage of the
// database interrupts are stored when it answers again, unless the lease has ended by then.
func (c *Courier) send(ctx context.Context, d *claim) {
	r := result{claim: d, began: c.Clock()}
	if ctx.Err() == nil {
		secrets, err := secretsOf(c.Sealer, d.OrgID, d.endpoint, r.began)
		if err != nil {
			c.Log.ErrorContext(ctx, "webhook delivery is not signed", "org_id", d.OrgID, "endpoint_id", d.EndpointID, "error", err)
			return
		}
		a := c.Sender.Post(ctx, standardhooks.Request{URL: d.endpoint.URL, ID: d.delivery.ID, At: r.began, Body: []byte(d.delivery.Body), Secrets: secrets})
		if ctx.Err() == nil || a.Delivered() {
			r.answer = &a
		}
	}
	r.ended = c.Clock()
	d.delivery.Body = "" // the result may be kept
	if err := c.results.Store(ctx, r, d.until); err != nil {
		c.Log.WarnContext(ctx, "the outcome of a webhook delivery is not stored; without it, the delivery is sent again at the end of its lease",
			"org_id", d.OrgID, "endpoint_id", d.EndpointID, "delivery_id", d.delivery.ID, "error", err)
	}
}

// store stores the result of an attempt, and disables the endpoint if it has failed for
// FailingLimit.
func (c *Courier) store(ctx context.Context, r result) error {
	if r.answer == nil {
		return c.Queue.GiveBack(ctx, r.OrgID, r.delivery, r.ended)
	}
	return c.Transactor.InTx(ctx, func(ctx context.Context) error {
		current, err := c.Queue.Settle(ctx, r.OrgID, r.delivery.settle(*r.answer, r.ended))
		if err != nil || !current {
			return err
		}
		failed := !r.answer.Delivered()
		if err := c.Queue.NoteAttempt(ctx, r.Target, failed, failed || r.ended.Sub(r.began) >= slowFrom, r.ended); err != nil || !failed {
			return err
		}
		disabled, err := c.Queue.DisableFailing(ctx, r.Target, r.ended.Add(-FailingLimit), r.ended)
		if err != nil || !disabled {
			return err
		}
		c.Log.WarnContext(ctx, "webhook endpoint disabled: all attempts of five days failed", "org_id", r.OrgID, "endpoint_id", r.EndpointID)
		return access.RecordAudit(ctx, c.Audit, r.ended, access.AuditEntry{Actor: access.System(), Action: "webhook.disabled", OrgID: r.OrgID, Subject: r.EndpointID})
	})
}
