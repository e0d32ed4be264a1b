package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an organization on a database, with a clock and a receiver of webhooks.
type world struct {
	t        *testing.T
	db       *storage.DB
	org      string
	hooks    webhooks.Webhooks
	courier  *webhooks.Courier
	sealer   webhooks.Sealer
	receiver *receiver

	mu  sync.Mutex
	now time.Time
	// away lets transactions of the courier fail.
	away bool
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{t: t, db: db, org: core.NewID(), now: start}
	w.receiver = &receiver{t: t}
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	w.must(err)
	w.sealer = master
	w.hooks = webhooks.Webhooks{
		Store: db.Webhooks(), Transactor: db, Audit: db.Audit(), Sealer: master, Observer: webhooks.NewObserver(db.Webhooks(), w.clock), Clock: w.clock,
	}
	w.courier = w.newCourier(slog.DiscardHandler)
	return w
}

// newCourier returns the courier of one more process.
func (w *world) newCourier(log slog.Handler) *webhooks.Courier {
	return webhooks.NewCourier(webhooks.CourierConfig{
		Queue: w.db.WebhookQueue(), Transactor: w, Audit: w.db.Audit(), Sealer: w.sealer, Sender: w.receiver, Clock: w.clock, Log: slog.New(log),
	})
}

// InTx implements [core.Transactor]. It fails while the database is away.
func (w *world) InTx(ctx context.Context, f func(ctx context.Context) error) error {
	w.mu.Lock()
	away := w.away
	w.mu.Unlock()
	if away {
		return core.TemporarilyUnavailable(errors.New("connection refused"))
	}
	return w.db.InTx(ctx, f)
}

// setAway lets transactions of the courier fail or work.
func (w *world) setAway(away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = away
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// create stores an endpoint for the types and returns it with its secret.
func (w *world) create(types ...webhooks.EventType) (webhooks.Endpoint, string) {
	w.t.Helper()
	id := core.NewID()
	e, secret, err := w.hooks.Create(w.t.Context(), operator, w.org, id, webhooks.Settings{URL: "https://example.com/" + id, Types: types, Enabled: true})
	w.must(err)
	return e, secret
}

var operator = access.ActorOf(access.Operator)

// event returns a new message event that happens now.
func (w *world) event(of messages.EventType) messages.Event {
	return messages.Event{
		ID: core.NewID(), MessageID: "m-1", Type: of, OccurredAt: w.clock(), Recipient: "ada@example.com",
		Mail: messages.Mail{From: "shop@example.com", To: []string{"ada@example.com"}, Subject: "News"},
	}
}

// observe records events in a transaction, as the recorder of events does.
func (w *world) observe(events ...messages.Event) {
	w.t.Helper()
	w.must(w.db.InTx(w.t.Context(), func(ctx context.Context) error { return w.hooks.Observer.ObserveEvents(ctx, w.org, events) }))
}

// sendDue runs the courier once and returns the number of requests that arrived.
func (w *world) sendDue() int {
	w.t.Helper()
	before := len(w.receiver.all())
	w.must(w.courier.SendDue(w.t.Context()))
	return len(w.receiver.all()) - before
}

// deliveries returns all deliveries of an endpoint, newest first.
func (w *world) deliveries(endpointID string) []webhooks.Delivery {
	w.t.Helper()
	all, err := w.db.Webhooks().Deliveries(w.t.Context(), w.org, endpointID, webhooks.Filter{Limit: 1000})
	w.must(err)
	return all
}

// endpoint reads an endpoint.
func (w *world) endpoint(id string) webhooks.Endpoint {
	w.t.Helper()
	e, err := w.db.Webhooks().Endpoint(w.t.Context(), w.org, id)
	w.must(err)
	return e
}

// receiver is a [webhooks.Sender] that keeps every request in memory. It answers with the
// result of answer, or with 204 if answer is nil.
type receiver struct {
	t      *testing.T
	answer func(context.Context, standardhooks.Request) standardhooks.Answer

	mu  sync.Mutex
	got []standardhooks.Request
}

func (r *receiver) Post(ctx context.Context, request standardhooks.Request) standardhooks.Answer {
	r.mu.Lock()
	r.got = append(r.got, request)
	r.mu.Unlock()
	if r.answer == nil {
		return standardhooks.Answer{Status: 204}
	}
	return r.answer(ctx, request)
}

func (r *receiver) all() []standardhooks.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]standardhooks.Request(nil), r.got...)
}

// fail answers every request with the status 500.
func fail(context.Context, standardhooks.Request) standardhooks.Answer {
	return standardhooks.Answer{Status: 500, Text: "broken"}
}
