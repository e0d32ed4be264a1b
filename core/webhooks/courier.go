package webhooks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/standardhooks"
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
	ctx = core.WithLane(ctx, core.Background)
	var lanes sync.WaitGroup
	for _, slow := range []bool{false, true} {
		lanes.Go(func() { c.runLane(ctx, slow) })
	}
	lanes.Wait()
}

// runLane sends the deliveries of one lane. After each delivery it looks for due ones again,
// so that an endpoint with many deliveries need not wait for the next poll.
func (c Courier) runLane(ctx context.Context, slow bool) {
	l := courierLane{Courier: c, slow: slow, slots: make(chan struct{}, laneSize), freed: make(chan struct{}, 1)}
	defer l.sending.Wait()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if err := l.sendDue(ctx); err != nil && ctx.Err() == nil {
			c.Log.WarnContext(ctx, "webhook deliveries wait", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-l.freed:
		}
	}
}

// SendDue sends the deliveries that are due now, in both lanes, and returns when all
// attempts have ended. Tests call it in place of Run.
func (c Courier) SendDue(ctx context.Context) error {
	for _, slow := range []bool{false, true} {
		l := courierLane{Courier: c, slow: slow, slots: make(chan struct{}, laneSize), freed: make(chan struct{}, 1)}
		err := l.sendDue(ctx)
		l.sending.Wait()
		if err != nil {
			return err
		}
	}
	return nil
}

// courierLane sends deliveries to endpoints that are slow, or to the others. slots has an
// element for each delivery in flight. freed receives a value after an attempt has ended.
type courierLane struct {
	Courier
	slow    bool
	slots   chan struct{}
	freed   chan struct{}
	sending sync.WaitGroup
}

// sendDue claims deliveries for the free slots of the lane and starts to send them. It fails
// with the first error of the queue.
func (l *courierLane) sendDue(ctx context.Context) error {
	free := cap(l.slots) - len(l.slots)
	if free == 0 {
		return nil
	}
	targets, err := l.Queue.Due(ctx, l.slow, l.Clock(), free)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if free = cap(l.slots) - len(l.slots); free == 0 {
			return nil
		}
		now := l.Clock()
		claimed, err := l.Queue.Claim(ctx, t, now, now.Add(lease), min(free, InFlight))
		if err != nil {
			return err
		}
		for _, d := range claimed.Deliveries {
			l.slots <- struct{}{} // only this goroutine adds, so it does not wait
			l.sending.Go(func() {
				l.send(ctx, t, claimed.Endpoint, d)
				<-l.slots
				select {
				case l.freed <- struct{}{}:
				default:
				}
			})
		}
	}
	return nil
}

// send makes one attempt and stores its outcome. It stores no outcome of an attempt that the
// end of the process interrupted: the delivery is due again when its lease ends.
func (c Courier) send(ctx context.Context, t Target, e Endpoint, d Delivery) {
	now := c.Clock()
	secrets, err := secretsOf(c.Sealer, t.OrgID, e, now)
	if err != nil {
		c.Log.ErrorContext(ctx, "webhook delivery is not signed", "org_id", t.OrgID, "endpoint_id", t.EndpointID, "error", err)
		return
	}
	a := c.Sender.Post(ctx, standardhooks.Request{URL: e.URL, ID: d.ID, At: now, Body: []byte(d.Body), Secrets: secrets})
	if ctx.Err() != nil && !a.Delivered() {
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
