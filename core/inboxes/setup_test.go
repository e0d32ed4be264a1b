package inboxes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	inboxstore "github.com/mailhelm/mailhelm/storage/inboxes"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world has the inboxes of an organization on a database, with a clock, objects in memory, and
// a person who calls the operations.
type world struct {
	t         *testing.T
	db        *storage.DB
	inboxes   *inboxes.Inboxes
	router    *inboxes.Router
	objects   *objects
	waiting   *inboxes.Waiting
	ann       core.Principal
	connected bool
	verified  []string
	queue     queue

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{t: t, db: db, now: start, objects: &objects{stored: map[string]bool{}}, connected: true}
	w.ann = member(core.NewID(), "ann")
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	w.must(err)
	store, log := db.Inboxes(), slog.New(slog.DiscardHandler)
	w.waiting = inboxes.NewWaiting(inboxstore.NewNotices(db.DB), log)
	w.inboxes = inboxes.New(inboxes.Config{
		Store: store, Messages: store, Deliveries: store, Tokens: store, Purges: store, Claims: w, Domains: w, Accounts: w, Objects: w.objects, Sealer: master, Waiting: w.waiting,
		Queue: &w.queue, Domain: "inbox.test", BaseURL: "https://api.test", FetchURL: "https://fetch.test", Clock: w.clock, Log: log,
	})
	w.router = inboxes.NewRouter(store, "inbox.test", w.clock)
	return w
}

// member returns a signed-in person of an organization.
func member(orgID, user string) core.Principal {
	return core.Principal{Org: core.Org{ID: orgID}, UserID: user, Credential: core.Credential{Kind: core.Person, ID: user, Environment: core.Live}, Scopes: core.AllScopes()}
}

// queue remembers the jobs that were enqueued.
type queue struct{ jobs []jobs.Args }

func (q *queue) Enqueue(_ context.Context, args jobs.Args) error {
	q.jobs = append(q.jobs, args)
	return nil
}

func (q *queue) EnqueueOnce(ctx context.Context, args jobs.Args) (bool, error) {
	return true, q.Enqueue(ctx, args)
}

func (w *world) HasVerified(_ context.Context, _, owner, address string) (bool, error) {
	return slices.Contains(w.verified, owner+" "+address), nil
}

func (w *world) HasDomain(_ context.Context, _, domain string) (bool, error) {
	return slices.Contains(w.verified, domain), nil
}

func (w *world) HasAccount(context.Context, core.Org) (bool, error) { return w.connected, nil }

// objects is a store in memory.
type objects struct {
	mu     sync.Mutex
	stored map[string]bool
	broken error
}

func (o *objects) Link(_ context.Context, _, store, key, _, _ string, until time.Time) (string, error) {
	return "https://objects.test/" + store + "/" + key + "?until=" + strconv.FormatInt(until.Unix(), 10), nil
}

func (o *objects) Open(_ context.Context, orgID, store, key string) (io.ReadCloser, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stored[key] {
		return nil, core.NotFound("object")
	}
	return io.NopCloser(strings.NewReader(orgID + " " + store + " " + key)), nil
}

func (o *objects) Delete(_ context.Context, _, _ string, keys []string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil {
		return o.broken
	}
	for _, key := range keys {
		delete(o.stored, key)
	}
	return nil
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

// call calls an operation as the guardrails do: with the arguments checked by the schema, and
// in a transaction if it writes.
func (w *world) call(p core.Principal, name, arguments string) (any, error) {
	w.t.Helper()
	for _, op := range w.inboxes.Operations() {
		if op.Info().Name != name {
			continue
		}
		in, err := op.Decode(core.REST, []byte(arguments))
		if err != nil {
			return nil, err
		}
		c := &core.Call{Principal: p, Surface: core.REST, Now: w.clock()}
		defer c.Finish()
		if op.Info().Effect == core.Reads {
			out, err := op.Do(w.t.Context(), c, in)
			return op.View(core.REST, out), err
		}
		var out any
		err = w.db.InTx(w.t.Context(), func(ctx context.Context) error {
			var err error
			out, err = op.Do(ctx, c, in)
			return err
		})
		if err != nil {
			return nil, err
		}
		return op.View(core.REST, out), nil
	}
	w.t.Fatalf("no operation %s", name)
	return nil, nil
}

// as calls an operation that must succeed.
func as[T any](w *world, p core.Principal, name, arguments string) T {
	w.t.Helper()
	out, err := w.call(p, name, arguments)
	if err != nil {
		w.t.Fatalf("%s %s: %v", name, arguments, err)
	}
	result, ok := out.(T)
	if !ok {
		w.t.Fatalf("%s returned %T", name, out)
	}
	return result
}

// mint creates an inbox of Ann.
func (w *world) mint(arguments string) inboxes.MintedView {
	w.t.Helper()
	return as[inboxes.MintedView](w, w.ann, "inboxes_create", arguments)
}

// refused calls an operation that must fail with the code, and returns the error.
func (w *world) refused(code core.Code, p core.Principal, name, arguments string) *core.Error {
	w.t.Helper()
	_, err := w.call(p, name, arguments)
	e, ok := errors.AsType[*core.Error](err)
	if !ok || e.Code != code {
		w.t.Fatalf("%s %s: %v, want %s", name, arguments, err, code)
	}
	return e
}

// message returns a message that passes all checks.
func (w *world) message(id, from string) inbound.Message {
	key := "raw/" + id
	w.objects.mu.Lock()
	w.objects.stored[key] = true
	w.objects.mu.Unlock()
	return inbound.Message{
		ID: id, Sender: "bounce@" + from[1+bytes.IndexByte([]byte(from), '@'):], From: &inbound.Address{Address: from}, ReceivedAt: w.clock(), RawKey: key, StoreID: "files",
		Subject: "Your code", Text: "483920", Verdicts: inbound.Verdicts{SPF: inbound.Pass, Virus: inbound.Disabled}, Extracted: inbound.Extracted{Codes: []string{"483920"}},
	}
}

// deliver passes a message through the router and the destination, and reports whether the
// inbox keeps it.
func (w *world) deliver(address string, m inbound.Message) bool {
	w.t.Helper()
	return w.deliverAll(w.routed(address, m))[0]
}

// target names an inbox of the organization.
func (w *world) target(id string) inboxes.Target {
	return inboxes.Target{OrgID: w.ann.Org.ID, InboxID: id}
}

// routed returns a message with its route.
func (w *world) routed(address string, m inbound.Message) inbound.Delivery {
	w.t.Helper()
	route, refusal, err := w.router.Route(w.t.Context(), address)
	w.must(err)
	if refusal != inbound.Accepted {
		w.t.Fatalf("%s is refused: %v", address, refusal)
	}
	return inbound.Delivery{Message: m, Routes: []inbound.Route{route}}
}

// deliverAll passes messages to the destination together, and reports which of them are kept.
func (w *world) deliverAll(all ...inbound.Delivery) (kept []bool) {
	w.t.Helper()
	to := w.inboxes.Destination()
	w.must(w.db.InTx(w.t.Context(), func(ctx context.Context) error {
		var err error
		kept, err = to.Deliver(ctx, all)
		return err
	}))
	for i, d := range all {
		if !kept[i] {
			w.must(w.objects.Delete(w.t.Context(), d.Routes[0].OrgID, d.Message.StoreID, d.Message.Keys()))
		}
		to.Committed(w.t.Context(), d)
	}
	return kept
}

// poll reads messages without waiting.
func (w *world) poll(id string, after string) inboxes.Arrived {
	w.t.Helper()
	return as[inboxes.Arrived](w, w.ann, "inboxes_messages", `{"id": "`+id+`", "after": `+after+`}`)
}

// read returns an inbox.
func (w *world) read(id string) inboxes.Record {
	w.t.Helper()
	return as[inboxes.Record](w, w.ann, "inboxes_get", `{"id": "`+id+`"}`)
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
