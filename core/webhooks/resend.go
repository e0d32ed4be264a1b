package webhooks

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// deliveryDetail is the detail of an entry of the audit log about a delivery.
type deliveryDetail struct {
	Delivery string `json:"delivery"`
}

// SendTest creates a delivery with an invented event of the endpoint's first type, which is
// marked as a test, and returns it. It fails with core.CodeNotFound for an unknown endpoint
// and with core.CodeConflict for a disabled one.
func (w Webhooks) SendTest(ctx context.Context, actor access.Actor, orgID, id string) (Delivery, error) {
	var d Delivery
	event := core.NewID()
	err := w.change(ctx, actor, orgID, "webhook.tested", id, deliveryDetail{deliveryID(id, event)}, func(ctx context.Context, now time.Time) error {
		e, err := w.enabled(ctx, orgID, id)
		if err != nil {
			return err
		}
		o := occurrence{event, payload{e.Types[0], now.UTC().Truncate(time.Microsecond), data{
			MessageID: "test-" + event, Recipient: "recipient@example.com", From: "sender@example.com", Subject: "Test event of Mailhelm", Test: true,
		}}}
		body, err := o.body()
		if err != nil {
			return err
		}
		d = o.delivery(id, body, now)
		return w.Store.AddDeliveries(ctx, orgID, []Delivery{d})
	})
	return d, err
}

// Resend makes a delivery due at once, with the same id and body and all its tries. It
// changes nothing while the delivery is being sent. It fails with core.CodeNotFound for an
// unknown delivery and with core.CodeConflict if the endpoint is disabled.
func (w Webhooks) Resend(ctx context.Context, actor access.Actor, orgID, endpointID, id string) error {
	return w.change(ctx, actor, orgID, "webhook.resent", endpointID, deliveryDetail{id}, func(ctx context.Context, now time.Time) error {
		if _, err := w.enabled(ctx, orgID, endpointID); err != nil {
			return err
		}
		if _, err := w.Store.Delivery(ctx, orgID, endpointID, id); err != nil {
			return err
		}
		return w.Store.Requeue(ctx, orgID, endpointID, id, now)
	})
}

// enabled returns an endpoint that is enabled.
func (w Webhooks) enabled(ctx context.Context, orgID, id string) (Endpoint, error) {
	e, err := w.Store.Endpoint(ctx, orgID, id)
	if err == nil && !e.Enabled {
		err = core.Conflict("The webhook endpoint is disabled, so nothing is sent to it.", "Enable the endpoint, then try again.")
	}
	return e, err
}
