package webhooks

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/messages"
)

const (
	// remembered is how long a process uses the subscriptions of an organization that it has
	// read. A change in another process applies after this time, unless the process is notified.
	remembered = 5 * time.Second
	// rememberedOrgs is the maximum number of organizations in the cache.
	rememberedOrgs = 10_000
	// oldest is the age from which an event causes no delivery, so that the import of an
	// archive does not send years of events.
	oldest = 72 * time.Hour
)

// Observer creates deliveries of new events. It is a [messages.Recorder].
type Observer struct {
	store Store
	clock core.Clock
	// subscriptions remembers the endpoints of organizations, also that there are none. So
	// events of an organization without endpoints cost no query.
	subscriptions *cache.Cache[string, subscribed]
}

// subscribed has the subscriptions of an organization.
type subscribed struct {
	orgID string
	all   []Subscription
}

// NewObserver returns an Observer.
func NewObserver(store Store, clock core.Clock) *Observer {
	return &Observer{store, clock, cache.New[string, subscribed](rememberedOrgs)}
}

// ObserveEvents creates the deliveries of message events, in the transaction of ctx.
func (o *Observer) ObserveEvents(ctx context.Context, orgID string, events []messages.Event) error {
	subscriptions, err := o.subscriptionsOf(ctx, orgID)
	if err != nil || len(subscriptions) == 0 {
		return err
	}
	happened := make([]occurrence, 0, len(events))
	for _, e := range events {
		if one, wanted := occurrenceOf(e); wanted {
			happened = append(happened, one)
		}
	}
	return o.deliver(ctx, orgID, subscriptions, happened)
}

// Unsubscribe is an opt-out of a recipient on a page of Mailhelm.
type Unsubscribe struct {
	// ID identifies the opt-out in the organization. Deliveries of a repeated one are not
	// created again.
	ID        string
	At        time.Time
	Recipient string // address
	// ContactID, MessageID, BroadcastID and Topic are "" if they are unknown. Topic is the
	// name of the topic, "" if the recipient opted out of all mail.
	ContactID, MessageID, BroadcastID, Topic string
	Test                                     bool
}

// ObserveUnsubscribe creates the deliveries of an opt-out, in the transaction of ctx. It may
// be repeated.
func (o *Observer) ObserveUnsubscribe(ctx context.Context, orgID string, u Unsubscribe) error {
	subscriptions, err := o.subscriptionsOf(ctx, orgID)
	if err != nil || len(subscriptions) == 0 {
		return err
	}
	return o.deliver(ctx, orgID, subscriptions, []occurrence{{u.ID, payload{Unsubscribed, u.At.UTC(), data{
		MessageID: u.MessageID, Recipient: u.Recipient, BroadcastID: u.BroadcastID, ContactID: u.ContactID, Topic: u.Topic, Test: u.Test,
	}}}})
}

// deliver creates a delivery of each event for each endpoint that receives its type.
func (o *Observer) deliver(ctx context.Context, orgID string, subscriptions []Subscription, happened []occurrence) error {
	var added []Delivery
	now := o.clock()
	for _, one := range happened {
		if now.Sub(one.payload.Timestamp) > oldest {
			continue
		}
		body := ""
		for _, s := range subscriptions {
			if !slices.Contains(s.Types, one.payload.Type) {
				continue
			}
			if body == "" {
				var err error
				if body, err = one.body(); err != nil {
					return err
				}
			}
			added = append(added, one.delivery(s.EndpointID, body, now))
		}
	}
	if len(added) == 0 {
		return nil
	}
	return o.store.AddDeliveries(ctx, orgID, added)
}

// subscriptionsOf returns the subscriptions of an organization, which may be as old as
// remembered.
func (o *Observer) subscriptionsOf(ctx context.Context, orgID string) ([]Subscription, error) {
	now := o.clock()
	if found, ok := o.subscriptions.Get(orgID, now); ok {
		return found.all, nil
	}
	epoch := o.subscriptions.Epoch()
	all, err := o.store.Subscriptions(ctx, orgID)
	if err != nil {
		return nil, err
	}
	o.subscriptions.Put(orgID, subscribed{orgID, all}, now.Add(remembered), epoch)
	return all, nil
}

// Forget removes the subscriptions of an organization from the cache. Call it after they have changed.
func (o *Observer) Forget(orgID string) {
	o.subscriptions.Remove(func(s subscribed) bool { return s.orgID == orgID })
}

// ForgetAll removes the subscriptions of all organizations from the cache.
func (o *Observer) ForgetAll() { o.subscriptions.Remove(func(subscribed) bool { return true }) }
