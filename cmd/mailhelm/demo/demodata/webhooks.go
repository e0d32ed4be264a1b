package demodata

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
)

const (
	hookDeliveries = 8 // deliveries in the log of the demo's endpoint
	// hookDelay is the time between an event and its delivery.
	hookDelay = 2 * time.Second
)

// webhook stores a webhook endpoint and deliveries of the latest bounces and complaints. The
// last one failed. The endpoint is disabled, so that the demo sends nothing.
func (p Past) webhook(ctx context.Context, orgID string, events []messages.Event) error {
	id, operator := core.NewID(), access.ActorOf(access.Operator)
	s := webhooks.Settings{
		URL: "https://crm.example.com/mailhelm", Description: "CRM", Types: []webhooks.EventType{webhooks.Bounced, webhooks.Complained, webhooks.Unsubscribed}, Enabled: true,
	}
	if _, _, err := p.Webhooks.Create(ctx, operator, orgID, id, s); err != nil {
		return err
	}
	target := webhooks.Target{OrgID: orgID, EndpointID: id}
	for i, e := range latestFailures(events, hookDeliveries) {
		at := e.OccurredAt.Add(hookDelay)
		observer := webhooks.NewObserver(p.DB.Webhooks(), func() time.Time { return at })
		if err := observer.ObserveEvents(ctx, orgID, []messages.Event{e}); err != nil {
			return err
		}
		if err := p.answer(ctx, target, at, i == hookDeliveries-1); err != nil {
			return err
		}
	}
	s.Enabled = false
	_, err := p.Webhooks.Edit(ctx, operator, orgID, id, s)
	return err
}

// latestFailures returns at most n bounces and complaints, the latest ones, oldest first.
func latestFailures(events []messages.Event, n int) []messages.Event {
	var found []messages.Event
	for _, e := range events {
		if e.Type == messages.Bounce || e.Type == messages.Complaint {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b messages.Event) int { return a.OccurredAt.Compare(b.OccurredAt) })
	return found[max(0, len(found)-n):]
}

// answer stores the outcome of the delivery that is due: accepted at the first attempt or,
// if failed is true, refused at every attempt.
func (p Past) answer(ctx context.Context, target webhooks.Target, at time.Time, failed bool) error {
	tries, outcome := 1, webhooks.Delivery{State: webhooks.Accepted, Status: http.StatusNoContent}
	if failed {
		tries, outcome = standardhooks.Tries, webhooks.Delivery{State: webhooks.Failed, Status: http.StatusServiceUnavailable, Answer: "Service unavailable"}
	}
	queue := p.DB.WebhookQueue()
	for try := range tries {
		claimed, err := queue.Claim(ctx, target, at, at, 1)
		if err != nil || len(claimed.Deliveries) == 0 {
			return err
		}
		if try < tries-1 {
			continue // the lease ends at once
		}
		d := claimed.Deliveries[0]
		d.State, d.Status, d.Answer, d.DueAt, d.AnsweredAt = outcome.State, outcome.Status, outcome.Answer, nil, &at
		if _, err := queue.Settle(ctx, target.OrgID, d); err != nil {
			return err
		}
	}
	return nil
}
