package webhooks_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// optOut is the metadata of an opt-out of a topic, optIn that of an opt-in.
const (
	optOut = `{"newTopicPreferences":{"unsubscribeAll":false,"topicSubscriptionStatus":[{"topicName":"news","subscriptionStatus":"OptOut"}]},"oldTopicPreferences":{"unsubscribeAll":false,"topicSubscriptionStatus":[{"topicName":"news","subscriptionStatus":"OptIn"}]}}`
	optIn  = `{"newTopicPreferences":{"unsubscribeAll":false,"topicSubscriptionStatus":[{"topicName":"news","subscriptionStatus":"OptIn"}]},"oldTopicPreferences":{"unsubscribeAll":true}}`
)

// TestTypesOfEvents records one event of each of the provider's types. Each endpoint must
// receive those that it chose.
func TestTypesOfEvents(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		every, _ := w.create(webhooks.EventTypes()...)
		some, _ := w.create(webhooks.Bounced, webhooks.Unsubscribed)
		for _, of := range []messages.EventType{
			messages.Send, messages.Delivery, messages.Bounce, messages.Complaint, messages.Reject, messages.Open, messages.Click,
			messages.DeliveryDelay, messages.RenderingFailure,
		} {
			w.observe(w.event(of))
		}
		for _, metadata := range []string{optOut, optIn, `{"newTopicPreferences":{"unsubscribeAll":true}}`, `{"newTopicPreferences":{"unsubscribeAll":true},"oldTopicPreferences":{"unsubscribeAll":true}}`, ``} {
			e := w.event(messages.Subscription)
			e.Metadata = json.RawMessage(metadata)
			w.observe(e)
		}
		want := map[webhooks.EventType]int{
			webhooks.Sent: 1, webhooks.Delivered: 1, webhooks.Bounced: 1, webhooks.Complained: 1, webhooks.Opened: 1, webhooks.Clicked: 1, webhooks.Unsubscribed: 2,
		}
		if diff := cmp.Diff(want, w.count(every.ID)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[webhooks.EventType]int{webhooks.Bounced: 1, webhooks.Unsubscribed: 2}, w.count(some.ID)); diff != "" {
			t.Error(diff)
		}
	})
}

// count returns the number of deliveries to an endpoint by type.
func (w *world) count(endpointID string) map[webhooks.EventType]int {
	w.t.Helper()
	counts := map[webhooks.EventType]int{}
	for _, d := range w.deliveries(endpointID) {
		counts[d.Type]++
	}
	return counts
}

// TestPayload compares the bodies of a message event and of an opt-out. A repeated event has
// no second delivery, an old event none, and a rolled back one none.
func TestPayload(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Clicked, webhooks.Unsubscribed)
		contact, send := core.NewID(), core.NewID()
		click, old, undone := w.event(messages.Click), w.event(messages.Click), w.event(messages.Click)
		click.Metadata, click.Mail.Template, click.Mail.Test = json.RawMessage(`{"click_url":"https://example.com/?a=1&b=<2>"}`), "news", true
		click.Mail.Send, click.Mail.SendRecipient = send, contact
		old.OccurredAt = w.clock().Add(-73 * time.Hour)
		w.observe(click, old)
		w.observe(click)
		out := webhooks.Unsubscribe{ID: "m-1/news", At: w.clock(), Recipient: "ada@example.com", ContactID: contact, BroadcastID: send, MessageID: "m-1", Topic: "news"}
		for range 2 {
			w.must(w.hooks.Observer.ObserveUnsubscribe(t.Context(), w.org, out))
		}
		if err := db.InTx(t.Context(), func(ctx context.Context) error {
			w.must(w.hooks.Observer.ObserveEvents(ctx, w.org, []messages.Event{undone}))
			return context.Canceled
		}); err == nil {
			t.Error("the transaction was not rolled back")
		}
		bodies := map[webhooks.EventType]string{}
		for _, d := range w.deliveries(e.ID) {
			whole, err := db.Webhooks().Delivery(t.Context(), w.org, e.ID, d.ID)
			w.must(err)
			bodies[d.Type] += whole.Body
		}
		want := map[webhooks.EventType]string{
			webhooks.Clicked: `{"type":"clicked","timestamp":"2026-03-01T12:00:00Z","data":{"message_id":"m-1","recipient":"ada@example.com","from":"shop@example.com","subject":"News","template":"news",` +
				`"broadcast_id":"` + send + `","contact_id":"` + contact + `","test":true,"metadata":{"click_url":"https://example.com/?a=1\u0026b=\u003c2\u003e"}}}`,
			webhooks.Unsubscribed: `{"type":"unsubscribed","timestamp":"2026-03-01T12:00:00Z","data":{"message_id":"m-1","recipient":"ada@example.com","broadcast_id":"` + send + `","contact_id":"` + contact + `","topic":"news"}}`,
		}
		if diff := cmp.Diff(want, bodies); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSubscriptionsAreRemembered checks that events of an organization without endpoints
// read the endpoints once in five seconds, and that a change in this process applies at
// once.
func TestSubscriptionsAreRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	counted := &countingStore{Store: w.hooks.Store}
	w.hooks.Observer = webhooks.NewObserver(counted, w.clock)
	for range 3 {
		w.observe(w.event(messages.Send), w.event(messages.Bounce))
	}
	if counted.reads != 1 {
		t.Errorf("%d reads, want 1", counted.reads)
	}
	w.advance(5 * time.Second)
	w.observe(w.event(messages.Bounce))
	if counted.reads != 2 {
		t.Errorf("%d reads after five seconds, want 2", counted.reads)
	}
	e, _ := w.create(webhooks.Bounced)
	w.observe(w.event(messages.Bounce))
	w.must(w.hooks.Delete(t.Context(), operator, w.org, e.ID))
	w.observe(w.event(messages.Bounce))
	if got := len(w.deliveries(e.ID)); got != 1 {
		t.Errorf("%d deliveries, want 1: for the event between creation and deletion", got)
	}
}

// countingStore counts how often the endpoints of an organization are read.
type countingStore struct {
	webhooks.Store
	reads int
}

func (s *countingStore) Subscriptions(ctx context.Context, orgID string) ([]webhooks.Subscription, error) {
	s.reads++
	return s.Store.Subscriptions(ctx, orgID)
}

// BenchmarkObserveEvents records a batch of 100 events of an organization with a number of
// endpoints.
func BenchmarkObserveEvents(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, endpoints := range []string{"0", "1"} {
			b.Run(engine+"/endpoints="+endpoints, func(b *testing.B) {
				db := openFor(b, engine)
				observer, org := webhooks.NewObserver(db.Webhooks(), core.SystemClock), core.NewID()
				if endpoints == "1" {
					if err := db.Webhooks().InsertEndpoint(b.Context(), org, webhooks.Endpoint{ID: core.NewID(), URL: "https://example.com", Types: webhooks.EventTypes(), Enabled: true, CreatedAt: time.Now()}); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					batch := make([]messages.Event, 100)
					for i := range batch {
						batch[i] = messages.Event{ID: core.NewID(), MessageID: "m", Type: messages.Delivery, OccurredAt: time.Now(), Recipient: "ada@example.com"}
					}
					if err := observer.ObserveEvents(b.Context(), org, batch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func openFor(b *testing.B, engine string) *storage.DB {
	b.Helper()
	if engine == "postgres" {
		return storagetest.Postgres(b)
	}
	return storagetest.SQLite(b)
}
