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
	// settleTimeout limits the write of an outcome, also while the process stops.
	settleTimeout = 5 * time.Second
)

// Sender makes one attempt to deliver a message. Every outcome is in the answer.
type Sender interface {
	Post(ctx context.Context, r standardhooks.Request) standardhooks.Answer
}

// Courier sends due deliveries. Each process that runs jobs has one. All fields are
// required.
type Courier struct {
	Queue      Queue
	Transactor core.Transactor
	Audit      access.AuditAppender
	Sealer     Sealer
	Sender     Sender
	Clock      core.Clock
	Log        *slog.Logger
}

// Run sends deliveries until ctx ends, and returns when none is in flight. Slow and failing
// endpoints have their own lane, so that they cannot delay deliveries to the others.
func (c Courier) Run(ctx context.Context) {
	var lanes sync.WaitGroup
	for _, slow := range []bool{false, true} {
		lanes.Go(func() {
			ticker := time.NewTicker(pollEvery)
			defer ticker.Stop()
			c.lane(slow).Follow(ctx, ticker.C)
		})
	}
	lanes.Wait()
}

// SendDue sends the deliveries that are due now, in both lanes, and returns when all
// attempts have ended. Tests call it in place of Run.
func (c Courier) SendDue(ctx context.Context) error {
	for _, slow := range []bool{false, true} {
		lane := c.lane(slow)
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
}

// lane returns a pool that sends deliveries to endpoints that are slow, or to the others.
// After each delivery it looks for due ones again, so that an endpoint with many deliveries
// need not wait for the next poll.
func (c Courier) lane(slow bool) *workpool.Pool[*claim] {
	var lane *workpool.Pool[*claim]
	lane = workpool.New(workpool.Config[*claim]{
		Limit: laneSize, RetryAfter: lease, Clock: c.Clock, Log: c.Log,
		Find: func(ctx context.Context, room int) ([]*claim, error) { return c.claimDue(ctx, slow, room) },
		Do: func(ctx context.Context, d *claim) (time.Time, error) {
			defer lane.Wake()
			c.send(ctx, d.Target, d.endpoint, d.delivery)
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
func (c Courier) claimDue(ctx context.Context, slow bool, room int) (claims []*claim, err error) {
	targets, err := c.Queue.Due(ctx, slow, c.Clock(), room)
	for _, t := range targets {
		free := room - len(claims)
		if free == 0 {
			break
		}
		now := c.Clock()
		claimed, err := c.claim(ctx, t, now, min(free, InFlight))
		if err != nil {
			return claims, err
		}
		for _, d := range claimed.Deliveries {
			claims = append(claims, &claim{Target: t, endpoint: claimed.Endpoint, delivery: d})
		}
	}
	return claims, err
}

// claim claims due deliveries of an endpoint. The end of ctx does not interrupt it: deliveries
// that are claimed and not returned would wait for the end of the lease.
func (c Courier) claim(ctx context.Context, t Target, now time.Time, most int) (Claimed, error) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	return c.Queue.Claim(lasting, t, now, now.Add(lease), most)
}

// giveBack makes a delivery due again whose attempt the stop of the process interrupted.
func (c Courier) giveBack(ctx context.Context, t Target, d Delivery) {
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := c.Queue.GiveBack(lasting, t.OrgID, d, c.Clock()); err != nil {
		c.Log.WarnContext(ctx, "a webhook delivery waits for the end of its lease", "org_id", t.OrgID, "endpoint_id", t.EndpointID, "delivery_id", d.ID, "error", err)
	}
}

// send makes one attempt and stores its outcome. An attempt that the stop of the process
// interrupts has no outcome: the delivery is due again at once.
func (c Courier) send(ctx context.Context, t Target, e Endpoint, d Delivery) {
	if ctx.Err() != nil {
		c.giveBack(ctx, t, d)
		return
	}
	now := c.Clock()
	secrets, err := secretsOf(c.Sealer, t.OrgID, e, now)
	if err != nil {
		c.Log.ErrorContext(ctx, "webhook delivery is not signed", "org_id", t.OrgID, "endpoint_id", t.EndpointID, "error", err)
		return
	}
	a := c.Sender.Post(ctx, standardhooks.Request{URL: e.URL, ID: d.ID, At: now, Body: []byte(d.Body), Secrets: secrets})
	if ctx.Err() != nil && !a.Delivered() {
		c.giveBack(ctx, t, d)
		return
	}
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := c.settle(lasting, t, d, a, now); err != nil {
		c.Log.WarnContext(ctx, "the outcome of a webhook delivery is not stored, so it is sent again", "org_id", t.OrgID, "endpoint_id", t.EndpointID, "delivery_id", d.ID, "error", err)
	}
}

// settle stores the outcome of an attempt that began at start, and disables the endpoint if it has failed for
// FailingLimit.
func (c Courier) settle(ctx context.Context, t Target, d Delivery, a standardhooks.Answer, start time.Time) error {
	now := c.Clock()
	return c.Transactor.InTx(ctx, func(ctx context.Context) error {
		current, err := c.Queue.Settle(ctx, t.OrgID, d.settle(a, now))
		if err != nil || !current {
			return err
		}
		failed := !a.Delivered()
		if err := c.Queue.NoteAttempt(ctx, t, failed, failed || now.Sub(start) >= slowFrom, now); err != nil || !failed {
			return err
		}
		disabled, err := c.Queue.DisableFailing(ctx, t, now.Add(-FailingLimit), now)
		if err != nil || !disabled {
			return err
		}
		c.Log.WarnContext(ctx, "webhook endpoint disabled: all attempts of five days failed", "org_id", t.OrgID, "endpoint_id", t.EndpointID)
		return access.RecordAudit(ctx, c.Audit, now, access.AuditEntry{Actor: access.System(), Action: "webhook.disabled", OrgID: t.OrgID, Subject: t.EndpointID})
	})
}
