package processing_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"github.com/mailhelm/mailhelm/storage"
	inboundstore "github.com/mailhelm/mailhelm/storage/inbound"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var errBroken = errors.New("broken")

// world is a processor with a spooler on a database, and destinations that note what they get.
type world struct {
	inbound.Queue
	db     *storage.DB
	outage *outage
	stores *inboundtest.Stores
	spool  *spool.Spooler
	*processing.Processor
	org string
	log strings.Builder

	mu  sync.Mutex
	now time.Time
	// judge makes the verdicts; nil means passing ones.
	judge func(ctx context.Context, raw string) inbound.Verdicts
	// fails returns the error of the delivery of a subject; nil means none.
	fails func(subject string) error
	// delivered and committed have the messages in the order of the calls.
	delivered, committed []inbound.Message
	// observed counts the attempts by outcome, ages has the ages of their messages.
	observed map[processing.Outcome]int
	ages     []time.Duration
}

func (w *world) observe(o processing.Outcome, took, age time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.observed == nil {
		w.observed = map[processing.Outcome]int{}
	}
	w.observed[o]++
	w.ages = append(w.ages, age-took)
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

func newWorld(t testing.TB, db *storage.DB) *world {
	t.Helper()
	w := &world{Queue: inboundstore.NewQueue(db.DB), db: db, org: core.NewID(), now: start}
	w.outage = &outage{Queue: w.Queue, Transactor: db}
	w.stores = inboundtest.NewStores(t, w.clock)
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	w.spool = spool.New(spool.Config{Stores: w.stores, Queue: w.Queue, Folder: t.TempDir(), Wake: func() {}, Count: func(spool.Outcome) {}, Log: log})
	w.Processor = w.newProcessor(log)
	return w
}

func (w *world) newProcessor(log *slog.Logger) *processing.Processor {
	return processing.New(processing.Config{
		Queue: w.outage, Stores: w.stores, Transactor: w.outage, Clock: w.clock, Log: log,
		Judge: func(ctx context.Context, _ inbound.Envelope, raw []byte) inbound.Verdicts {
			if w.judge == nil {
				return inbound.Verdicts{SPF: inbound.Pass}
			}
			return w.judge(ctx, string(raw))
		},
		Observe:      w.observe,
		Extract:      func(m inbound.Message) inbound.Extracted { return inbound.Extracted{Codes: []string{m.Subject}} },
		Destinations: map[inbound.Kind]inbound.Destination{inbound.ToInbox: w, inbound.ToDomain: w},
	})
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

// Deliver implements [inbound.Destination]. It keeps messages for targets that do not begin with
// "drop".
func (w *world) Deliver(_ context.Context, all []inbound.Delivery) ([]bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := make([]bool, len(all))
	for i, d := range all {
		if w.fails != nil {
			if err := w.fails(d.Message.Subject); err != nil {
				return nil, err
			}
		}
		w.delivered = append(w.delivered, d.Message)
		kept[i] = !strings.HasPrefix(d.Routes[0].TargetID, "drop")
	}
	return kept, nil
}

func (w *world) Committed(_ context.Context, d inbound.Delivery) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.committed = append(w.committed, d.Message)
}

// accept accepts a message for targets, and returns its id.
func (w *world) accept(t testing.TB, raw string, targets ...string) string {
	t.Helper()
	e := inbound.Envelope{ID: core.NewID(), Sender: "sender@example.com", ReceivedAt: w.clock()}
	for _, target := range targets {
		kind := inbound.ToInbox
		if strings.HasSuffix(target, "domain") {
			kind = inbound.ToDomain
		}
		e.Routes = append(e.Routes, inbound.Route{Kind: kind, OrgID: w.org, TargetID: target, Recipient: "r@x.test"})
	}
	if err := w.spool.Accept(t.Context(), e, strings.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// look processes what is due.
func (w *world) look(t testing.TB) {
	t.Helper()
	if err := w.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Join()
}

// objects returns the content of the objects of a message by key; missing ones are left out.
func (w *world) objects(t *testing.T, m inbound.Message) map[string]string {
	t.Helper()
	store, err := w.stores.Of(t.Context(), w.org)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, key := range m.Keys() {
		if content, ok := objectstest.Content(t, store, key); ok {
			found[key] = content
		}
	}
	return found
}

// waiting returns the number of tasks in the queue.
func (w *world) waiting(t *testing.T) int {
	t.Helper()
	var n int
	if err := w.db.Reader().QueryRowContext(t.Context(), `SELECT count(*) FROM received_mail`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func mail(subject string) string {
	return "From: Anna <anna@example.com>\r\nTo: r@x.test\r\nSubject: " + subject + "\r\n\r\nHello\r\n"
}

func subjects(all []inbound.Message) []string {
	var list []string
	for _, m := range all {
		list = append(list, m.Subject)
	}
	slices.Sort(list)
	return list
}
