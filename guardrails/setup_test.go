package guardrails_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/prometheus/client_golang/prometheus"
)

// bundle has guardrails over a real database with a few test operations. A write inserts a
// user and an audit line, so that a test can count effects.
type bundle struct {
	db        *storage.DB
	clock     *testClock
	log       *bytes.Buffer
	catalogue *guardrails.Catalogue
	principal core.Principal

	mu       sync.Mutex
	preview  int           // what op_confirm would affect
	between  func()        // called between the confirmation of op_confirm and its transaction
	within   func()        // called inside the transaction of op_confirm, before its effect
	entered  chan struct{} // op_block says it runs
	release  chan struct{} // op_block goes on
	failNext error
	counted  []usage.Call // calls that were counted for the page of assistants
	finished atomic.Int32 // number of op_crash calls that released their resources
	reached  atomic.Int32 // how many audit lines addLine had written when op_confirm last ran
}

type testClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *testClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type effectIn struct {
	Email string `json:"email" jsonschema:"format=email" jsonschema_description:"Address."`
	Note  string `json:"note,omitempty" jsonschema_description:"Anything."`
	Pace  string `json:"pace,omitempty" jsonschema:"enum=FAST,enum=slow" jsonschema_description:"How fast."`
}

type effectOut struct {
	ID string `json:"id"`
}

func (effectOut) WasCreated() bool { return true }

func setup(t testing.TB) *bundle { return setupOn(t, storagetest.SQLite(t)) }

func setupOn(t testing.TB, db *storage.DB) *bundle {
	t.Helper()
	b := &bundle{
		db: db, clock: &testClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, log: &bytes.Buffer{},
		preview: 7, entered: make(chan struct{}, 100), release: make(chan struct{}),
	}
	b.principal = core.Principal{
		Org:        core.Org{ID: core.NewID(), Name: "Org", Slug: "org-" + core.NewID()[24:], Tier: "demo", RetentionDays: 365},
		Credential: core.Credential{Kind: core.OAuthClient, ID: core.NewID(), Name: "oc_live_abcdefgh", Environment: core.Live},
		Scopes:     core.NewScopes("api.contacts.view", "api.contacts.manage"),
	}
	if err := db.Orgs().InsertOrg(t.Context(), b.principal.Org); err != nil {
		t.Fatal(err)
	}
	b.mount(db.Replay(), nil)
	return b
}

// mount replaces the guardrails by new ones with this store and process.
func (b *bundle) mount(replays replay.Store, process *replay.Process) {
	g := guardrails.New(guardrails.Config{
		Authenticator: oneCaller{b}, Transactor: b.db, Replays: replays, Process: process, Audit: b.db.Audit(),
		ConfirmationSecret: bytes.Repeat([]byte{1}, guardrails.ConfirmationSecretBytes),
		Clock:              b.clock.Now, Log: slog.New(slog.NewJSONHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: prometheus.NewRegistry(), Usage: b,
	})
	b.catalogue = g.Catalogue(b.operations())
}

// Count implements [guardrails.UsageCounter].
func (b *bundle) Count(c usage.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counted = append(b.counted, c)
}

// oneCaller accepts only the credential "good", and authenticates it as the principal of
// the bundle.
type oneCaller struct{ b *bundle }

func (o oneCaller) Authenticate(_ context.Context, bearer string, _ access.Resource) (core.Principal, error) {
	if bearer != "good" {
		return core.Principal{}, &core.Error{Code: core.CodeInvalidKey, Message: "The request carries no valid credential."}
	}
	return o.b.principal, nil
}

func (b *bundle) operations() []core.Operation {
	base := core.Op[effectIn, effectOut]{Purpose: "Does it.", Scopes: []core.Scope{core.ContactsManage}, Do: b.effect}
	read, write, destroy, block, confirm := base, base, base, base, base
	read.Name, read.Effect = "op_read", core.Reads
	read.Do = func(context.Context, *core.Call, effectIn) (effectOut, error) {
		return effectOut{ID: "read"}, b.fault()
	}
	write.Name, write.Effect = "op_write", core.Writes
	destroy.Name, destroy.Effect = "op_destroy", core.Destroys
	message := write
	message.Name, message.IgnoresKey = "op_message", true
	git := write
	git.Name, git.GitOwned = "op_git", core.GitRefused
	crash := base
	crash.Name, crash.Effect = "op_crash", core.Writes
	crash.Prepare = func(_ context.Context, c *core.Call, in effectIn) (effectIn, error) {
		c.Defer(func() { b.finished.Add(1) })
		return in, nil
	}
	crash.Do = func(ctx context.Context, c *core.Call, in effectIn) (effectOut, error) {
		if b.fault() != nil {
			panic("a mistake in an operation")
		}
		return b.effect(ctx, c, in)
	}
	block.Name, block.Effect = "op_block", core.Writes
	block.Prepare = func(_ context.Context, _ *core.Call, in effectIn) (effectIn, error) {
		b.entered <- struct{}{}
		<-b.release
		return in, nil
	}
	confirm.Name, confirm.Effect = "op_confirm", core.Destroys
	confirm.Confirm = func(ctx context.Context, c *core.Call, _ effectIn) (*core.Confirmation, error) {
		b.mu.Lock()
		people := b.preview
		b.mu.Unlock() // do not hold the lock while waiting for a database connection
		return &core.Confirmation{Message: "This reaches people.", Preview: map[string]int{"people": people + b.lines(ctx, c)}}, nil
	}
	confirm.Prepare = func(_ context.Context, _ *core.Call, in effectIn) (effectIn, error) {
		if b.between != nil {
			b.between()
		}
		return in, nil
	}
	confirm.Do = func(ctx context.Context, c *core.Call, in effectIn) (effectOut, error) {
		if b.within != nil {
			b.within()
		}
		b.reached.Store(int32(b.lines(ctx, c)))
		return b.effect(ctx, c, in)
	}
	heavy := base
	heavy.Name, heavy.Effect, heavy.Cost = "op_heavy", core.Reads, core.Heavy
	heavy.CostOf = func(_ *core.Call, in effectIn) core.Cost {
		if in.Note == "light" {
			return core.Light
		}
		return core.Heavy
	}
	heavy.Do = func(ctx context.Context, _ *core.Call, _ effectIn) (effectOut, error) {
		b.entered <- struct{}{}
		<-b.release
		return effectOut{ID: []string{"calls", "expensive"}[core.LaneOf(ctx)]}, nil
	}
	return []core.Operation{
		core.Declare(heavy), core.Declare(read), core.Declare(write), core.Declare(destroy), core.Declare(git), core.Declare(block), core.Declare(confirm), core.Declare(crash), core.Declare(message),
	}
}

// effect inserts a user, so that tests can count calls that took effect. The user's address
// is made unique, because the database requires it.
func (b *bundle) effect(ctx context.Context, c *core.Call, in effectIn) (effectOut, error) {
	id := core.NewID()
	c.SetSubject(id)
	err := b.db.Users().InsertUser(ctx, access.User{ID: id, Email: id + "." + in.Email, Name: "effect", CreatedAt: c.Now})
	if err == nil {
		err = b.fault()
	}
	return effectOut{ID: id}, err
}

// lines returns the number of audit lines that addLine has stored. The preview of
// op_confirm includes this number.
func (b *bundle) lines(ctx context.Context, c *core.Call) int {
	events, err := b.db.Audit().FindAudit(ctx, c.Principal.Org.ID, access.AuditFilter{Limit: 1000})
	n := 0
	for _, e := range events {
		if e.Action == "other" {
			n++
		}
	}
	if err != nil {
		return -1
	}
	return n
}

// addLine stores an audit line in a transaction of its own. The line changes the preview of
// op_confirm.
func (b *bundle) addLine(t *testing.T) {
	t.Helper()
	if err := b.db.Audit().AppendAudit(context.WithoutCancel(t.Context()), access.AuditEvent{
		ID: core.NewID(), OrgID: b.principal.Org.ID, OccurredAt: b.clock.Now(), Action: "other", ActorKind: "system", Detail: "{}",
	}); err != nil {
		t.Error(err)
	}
}

func (b *bundle) fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.failNext
	b.failNext = nil
	return err
}

func (b *bundle) call(t *testing.T, operation string, edit func(*guardrails.Request)) (guardrails.Result, *core.Error) {
	t.Helper()
	op, ok := b.catalogue.Operation(operation)
	if !ok {
		t.Fatalf("no operation %s", operation)
	}
	req := guardrails.Request{
		Principal: b.principal, Surface: core.Agent, RequestID: "req-1",
		Arguments: json.RawMessage(`{"email":"ann@example.com"}`),
	}
	if edit != nil {
		edit(&req)
	}
	result, err := op.Call(context.WithoutCancel(t.Context()), req)
	return result, core.AsError(err)
}

// countAudited returns the number of audit lines of the organization.
func (b *bundle) countAudited(t *testing.T) int {
	t.Helper()
	events, err := b.db.Audit().FindAudit(t.Context(), b.principal.Org.ID, access.AuditFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return len(events)
}

func idOf(r guardrails.Result) string {
	out, _ := r.Value.(effectOut)
	return out.ID
}

func wantCode(t *testing.T, err *core.Error, code core.Code) {
	t.Helper()
	if err == nil || err.Code != code {
		t.Fatalf("error = %v, want %s", err, code)
	}
}
