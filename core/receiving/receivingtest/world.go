// Package receivingtest gives tests an organization with a receiving domain on a real database,
// with a clock, name servers and an endpoint that the test controls. Operations run with the same
// steps as in the product. The package is for tests only.
package receivingtest

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/storage"
)

// Start is the time of the clock when a test begins.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// MailHost is the host in the MX records.
const MailHost = "mx.mailhelm.test"

// Operations are the operations of the package by name.
type Operations map[string]core.Operation

// World is an organization on a database.
type World struct {
	DB        *storage.DB
	OrgID     string
	Receiving *receiving.Receiving
	Publisher *receiving.Publisher
	Router    *receiving.Router
	Courier   *receiving.Courier
	Desk      receiving.Desk
	Stores    *inboundtest.Stores
	Endpoint  *Endpoint
	Names     *Names
	Sealer    signing.MasterKey

	operations Operations

	mu  sync.Mutex
	now time.Time
}

// New returns an organization that has the verified sending domain example.com, and the
// domain example.org, which is not verified.
func New(t testing.TB, db *storage.DB) *World {
	t.Helper()
	return NewFor(t, db, core.NewID())
}

// NewFor returns a World for an organization with an id.
func NewFor(t testing.TB, db *storage.DB, orgID string) *World {
	t.Helper()
	w := &World{DB: db, OrgID: orgID, now: Start, Names: &Names{}, Endpoint: &Endpoint{}}
	w.Stores = inboundtest.NewStores(t, w.Clock)
	var err error
	if w.Sealer, err = signing.NewMasterKey(bytes.Repeat([]byte{7}, 32)); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	w.Receiving = receiving.New(receiving.Config{
		Store: db.ReceivingDomains(), Log: db.ReceivedLog(), Ending: db.ReceivedLog(), Identities: identities{}, DNS: w.Names, Hosts: w.Names,
		Region:    func(context.Context, string) (string, error) { return "eu-central-1", nil },
		Receivers: receiving.Receivers{MailHost: MailHost}, Reserved: []string{"inbox.example.com"}, Sealer: w.Sealer, Clock: w.Clock, Logger: log,
	})
	w.Publisher = receiving.NewPublisher(receiving.PublisherConfig{Store: db.ReceivingRoutes(), Hosts: w.Names, Clock: w.Clock, Log: log})
	w.Router = receiving.NewRouter(db.ReceivingRoutes(), w.Clock, log)
	w.Courier = receiving.NewCourier(receiving.CourierConfig{
		Queue: db.ReceivedDeliveries(), Store: db.ReceivedDeliveries(), Objects: w.Stores, Sealer: w.Sealer, Sender: w.Endpoint, Clock: w.Clock, Log: log,
	})
	w.Desk = receiving.Desk{Domains: db.ReceivingDomains(), Store: db.ReceivedDeliveries(), Transactor: db, Audit: db.Audit(), Clock: w.Clock}
	w.operations = Operations{}
	for _, op := range w.Receiving.Operations() {
		w.operations[op.Info().Name] = op
	}
	return w
}

// Clock returns the time of the test.
func (w *World) Clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Advance moves the clock.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Run runs an operation with the steps of package guardrails: decode, Prepare, and Do in a
// transaction.
func (w *World) Run(ctx context.Context, name, arguments string) (any, *core.Error) {
	op := w.operations[name]
	call := &core.Call{Principal: core.Principal{Org: core.Org{ID: w.OrgID}}, Surface: core.REST, Now: w.Clock()}
	defer call.Finish()
	in, err := op.Decode(core.REST, []byte(arguments))
	if err != nil {
		return nil, core.AsError(err)
	}
	if in, err = op.Prepare(ctx, call, in); err != nil {
		return nil, core.AsError(err)
	}
	var out any
	err = w.DB.InTx(ctx, func(ctx context.Context) error {
		out, err = op.Do(ctx, call, in)
		return err
	})
	return out, core.AsError(err)
}

// Want runs an operation that must succeed, and returns its result as REST shows it. It fails
// the test if the result does not match the operation's schema.
func (w *World) Want(t testing.TB, name, arguments string) map[string]any {
	t.Helper()
	out, failed := w.Run(t.Context(), name, arguments)
	if failed != nil {
		t.Fatalf("%s(%s): %v", name, arguments, failed)
	}
	return w.View(t, name, out)
}

// View returns a result as REST shows it.
func (w *World) View(t testing.TB, name string, out any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(w.operations[name].View(core.REST, out))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.operations[name].Output(core.REST).Check(raw); err != nil {
		t.Errorf("%s: the result does not fit its own schema: %v\n%s", name, err, raw)
	}
	var shown map[string]any
	if err := json.Unmarshal(raw, &shown); err != nil {
		t.Fatal(err)
	}
	return shown
}

// Operation returns an operation.
func (w *World) Operation(name string) core.Operation { return w.operations[name] }

// Refuse runs an operation that must fail with the code, and returns the error.
func (w *World) Refuse(t testing.TB, name, arguments string, code core.Code) *core.Error {
	t.Helper()
	_, err := w.Run(t.Context(), name, arguments)
	if err == nil || err.Code != code {
		t.Fatalf("%s(%s) = %v, want %s", name, arguments, err, code)
	}
	return err
}

// Open adds the receiving domain in.example.com, publishes its record and, if url is not "", a
// webhook with the given members of the request, such as `"spam_posture":"drop"`. It returns the
// id of the domain and the secret.
func (w *World) Open(t testing.TB, url, members string) (id, secret string) {
	t.Helper()
	id = w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)["id"].(string)
	w.Names.Publish("MX", "in.example.com", "10 "+MailHost)
	if got := w.Want(t, "inbound_domains_verify", `{"domain":"in.example.com"}`); got["status"] != "verified" {
		t.Fatalf("not verified: %v", got)
	}
	if url != "" {
		if members != "" {
			members = "," + members
		}
		secret = w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+url+`"`+members+`}`)["hmac_secret"].(string)
	}
	w.Publish(t)
	return id, secret
}

// Publish publishes what was changed, and lets the router read it.
func (w *World) Publish(t testing.TB) {
	t.Helper()
	if err := w.Publisher.PublishDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Router.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Receive routes a message to addresses, which must be accepted and belong to one domain, and
// delivers it. It reports whether the objects of the message are kept.
func (w *World) Receive(t testing.TB, m inbound.Message, addresses ...string) bool {
	t.Helper()
	return w.Deliver(t, w.Routed(t, m, addresses...))[0]
}

// Routed returns a message with its routes to addresses, which must be accepted and belong to one
// domain.
func (w *World) Routed(t testing.TB, m inbound.Message, addresses ...string) inbound.Delivery {
	t.Helper()
	var routes []inbound.Route
	for _, address := range addresses {
		route, refusal, err := w.Router.Route(t.Context(), address)
		if err != nil || refusal != inbound.Accepted {
			t.Fatalf("%s: %v, %v", address, refusal, err)
		}
		routes = append(routes, route)
	}
	return inbound.Delivery{Message: m, Routes: routes}
}

// Deliver delivers messages together. It reports which of them are kept.
func (w *World) Deliver(t testing.TB, all ...inbound.Delivery) (kept []bool) {
	t.Helper()
	destination := receiving.NewDestination(w.DB.ReceivedDeliveries(), w.Clock, nil)
	err := w.DB.InTx(t.Context(), func(ctx context.Context) error {
		var err error
		kept, err = destination.Deliver(ctx, all)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// Message returns a message that passed all checks.
func (w *World) Message(id string) inbound.Message {
	from := inbound.Address{Address: "ada@sender.example", Name: "Ada"}
	return inbound.Message{
		ID: id, Sender: "bounce@sender.example", ReceivedAt: w.Clock(), Size: 1234, From: &from, To: []inbound.Address{{Address: "support@in.example.com"}},
		Subject: "Hello", Text: "Hello there", HTML: "<p>Hello there</p>",
		Verdicts: inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Pass, DMARC: inbound.Pass, Spam: inbound.Pass, Virus: inbound.Pass},
	}
}

// Send sends the deliveries that are due.
func (w *World) Send(t testing.TB) {
	t.Helper()
	if err := w.Courier.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// identities are the sending identities of every organization.
type identities struct{}

// Identity implements receiving.Identities.
func (identities) Identity(_ context.Context, _, key string) (channels.Identity, error) {
	switch key {
	case "example.com":
		return channels.Identity{Identity: key, Type: channels.DomainIdentity, Verification: sending.Success}, nil
	case "example.org", "sub.example.com":
		return channels.Identity{Identity: key, Type: channels.DomainIdentity, Verification: sending.Pending, Tokens: []string{"t1", "t2", "t3"}}, nil
	}
	return channels.Identity{}, core.NotFound("identity")
}

// Names are the name servers of a test.
type Names struct {
	mu        sync.Mutex
	published map[string]bool
	failure   error
	hosts     map[string]standardhooks.Problem // by URL
}

// Publish publishes a DNS record.
func (n *Names) Publish(kind, name, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.published == nil {
		n.published = map[string]bool{}
	}
	n.published[kind+" "+name+" "+value] = true
}

// Fail lets lookups of records fail; nil lets them work.
func (n *Names) Fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failure = err
}

// SetHost sets the result of the lookup of the host of a URL.
func (n *Names) SetHost(url string, p standardhooks.Problem) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts == nil {
		n.hosts = map[string]standardhooks.Problem{}
	}
	n.hosts[url] = p
}

// IsPublished implements [channels.DNS].
func (n *Names) IsPublished(_ context.Context, _ string, r channels.Record) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.published[r.Type+" "+r.Name+" "+r.Value], n.failure
}

// Resolve implements receiving.Hosts.
func (n *Names) Resolve(_ context.Context, url string) standardhooks.Problem {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hosts[url]
}

// Endpoint receives deliveries.
type Endpoint struct {
	mu       sync.Mutex
	requests []standardhooks.Request
	answer   func(standardhooks.Request) standardhooks.Answer
}

// Answer sets the answer to requests. Without it, the answer is 200.
func (e *Endpoint) Answer(f func(standardhooks.Request) standardhooks.Answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = f
}

// Post implements receiving.Sender.
func (e *Endpoint) Post(_ context.Context, r standardhooks.Request) standardhooks.Answer {
	e.mu.Lock()
	e.requests = append(e.requests, r)
	answer := e.answer
	e.mu.Unlock()
	if answer == nil {
		return standardhooks.Answer{Status: 200}
	}
	return answer(r)
}

// Requests returns the requests so far.
func (e *Endpoint) Requests() []standardhooks.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]standardhooks.Request(nil), e.requests...)
}

// PurgeConfig returns the configuration of the purge job.
func (w *World) PurgeConfig() receiving.PurgeConfig {
	return receiving.PurgeConfig{
		Store: w.DB.ReceivedDeliveries(), Routing: w.DB.ReceivingRoutes(), Objects: w.Stores, Clock: w.Clock, Log: slog.New(slog.DiscardHandler),
		Orgs: func(context.Context) ([]string, error) { return []string{w.OrgID}, nil },
	}
}

// Purge runs the purge job.
func (w *World) Purge(t testing.TB) {
	t.Helper()
	if err := w.PurgeConfig().Purge(t.Context(), w.OrgID); err != nil {
		t.Fatal(err)
	}
}
