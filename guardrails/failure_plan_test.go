package guardrails_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/prometheus/client_golang/prometheus"
)

// failureKind is a simulated failure of a call: of the operation, of the caller's
// connection or of the process. The constant lives means that the call does not fail.
type failureKind string

const (
	lives        failureKind = "lives"
	fails        failureKind = "the operation fails"
	leavesBefore failureKind = "the caller leaves before the transaction"
	leavesInside failureKind = "the caller leaves inside the transaction"
	leavesAfter  failureKind = "the caller leaves after the commit"
	diesReserved failureKind = "the process dies with the key reserved"
	diesInside   failureKind = "the process dies inside the transaction"
	diesAfter    failureKind = "the process dies after the commit"
)

var failureKinds = []failureKind{lives, fails, leavesBefore, leavesInside, leavesAfter, diesReserved, diesInside, diesAfter}

// isAnswered reports whether the caller gets a response in spite of the simulated failure.
func (f failureKind) isAnswered() bool { return f == lives || f == fails }

// commits reports whether the transaction commits in spite of the simulated failure.
func (f failureKind) commits() bool { return f == lives || f == leavesAfter || f == diesAfter }

// dies reports whether f is a failure in which the process ends before it can release the
// idempotency key.
func (f failureKind) dies() bool { return f == diesReserved || f == diesInside || f == diesAfter }

// failurePlan is the simulated failure of one call. It is passed in the context of the call.
type failurePlan struct {
	kind  failureKind
	leave context.CancelFunc
	// pause, if not nil, runs within the call after the call has reserved its key.
	pause  func()
	effect string // id of the user that the operation inserted, committed or not
}

// pauseCall makes the call wait when it has reserved its key. The channel entered is closed
// when the call waits, and the function resume lets it continue.
func (p *failurePlan) pauseCall() (entered <-chan struct{}, resume func()) {
	waits, resumed := make(chan struct{}), make(chan struct{})
	p.pause = func() { close(waits); <-resumed }
	return waits, func() { close(resumed) }
}

type failurePlanKey struct{}

func failurePlanOf(ctx context.Context) *failurePlan {
	return ctx.Value(failurePlanKey{}).(*failurePlan)
}

var errDied = errors.New("the process died")

// mortal is a transactor that simulates the failure of a call. The failurePlan in the call's
// context selects the failure.
type mortal struct{ core.Transactor }

// InTx runs f in a transaction and simulates the failure of the call before, inside or
// after it.
func (m mortal) InTx(ctx context.Context, f func(context.Context) error) error {
	plan := failurePlanOf(ctx)
	switch plan.kind {
	case leavesBefore:
		plan.leave()
	case diesReserved:
		return errDied
	}
	err := m.Transactor.InTx(ctx, func(ctx context.Context) error {
		err := f(ctx)
		switch {
		case err != nil:
			return err
		case plan.kind == diesInside:
			return errDied
		case plan.kind == leavesInside:
			plan.leave()
		}
		return nil
	})
	if plan.kind == leavesAfter {
		plan.leave()
	}
	return err
}

// mortalStore is a store that does not release the idempotency keys of a process that has
// ended.
type mortalStore struct{ replay.Store }

// Release releases the key, unless the simulated failure is that the process has ended.
func (s mortalStore) Release(ctx context.Context, k replay.Key, token replay.Token) error {
	if failurePlanOf(ctx).kind.dies() {
		return nil
	}
	return s.Store.Release(ctx, k, token)
}

// breakage adds a fault to the transactor or the store, so that a test can check that the
// fault is detected. A nil breakage adds none.
type breakage func(core.Transactor, replay.Store) (core.Transactor, replay.Store)

// rig has guardrails over a real database, with two write operations and one that needs a
// confirmation. Its callers belong to two organizations. Each call can have a simulated
// failure.
type rig struct {
	db        *storage.DB
	clock     *testClock
	catalogue *guardrails.Catalogue
	callers   []core.Principal
}

func newRig(t testing.TB, db *storage.DB, broken breakage) *rig {
	t.Helper()
	r := &rig{db: db, clock: &testClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	mine, other := r.org(t), r.org(t)
	r.callers = []core.Principal{caller(mine), caller(mine), caller(other)}
	transactor, store := core.Transactor(db), replay.Store(db.Replay())
	if broken != nil {
		transactor, store = broken(transactor, store)
	}
	g := guardrails.New(guardrails.Config{
		Authenticator: oneCaller{}, Transactor: mortal{transactor}, Replays: mortalStore{store}, Audit: db.Audit(),
		ConfirmationSecret: bytes.Repeat([]byte{1}, guardrails.ConfirmationSecretBytes),
		Clock:              r.clock.Now, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	one := core.Op[effectIn, effectOut]{
		Name: "op_one", Purpose: "Does it.", Scopes: []core.Scope{core.ContactsManage}, Effect: core.Writes, Prepare: r.prepare, Do: r.do,
	}
	two, reach := one, one
	two.Name, reach.Name, reach.Effect = "op_two", "op_reach", core.Destroys
	reach.Confirm = func(context.Context, *core.Call, effectIn) (*core.Confirmation, error) {
		return &core.Confirmation{Message: "This reaches people."}, nil
	}
	r.catalogue = g.Catalogue([]core.Operation{core.Declare(one), core.Declare(two), core.Declare(reach)})
	return r
}

func (r *rig) org(t testing.TB) core.Org {
	t.Helper()
	org := core.Org{ID: core.NewID(), Name: "Org", Slug: "org-" + core.NewID()[24:], Tier: "demo", RetentionDays: 365}
	if err := r.db.Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	return org
}

func caller(org core.Org) core.Principal {
	return core.Principal{
		Org: org, Scopes: core.NewScopes("api.contacts.manage"),
		Credential: core.Credential{Kind: core.OAuthClient, ID: core.NewID(), Environment: core.Live},
	}
}

func (r *rig) prepare(ctx context.Context, _ *core.Call, in effectIn) (effectIn, error) {
	if m := failurePlanOf(ctx); m.pause != nil {
		m.pause()
	}
	return in, nil
}

var errOperation = errors.New("the operation failed")

func (r *rig) do(ctx context.Context, c *core.Call, in effectIn) (effectOut, error) {
	m, id := failurePlanOf(ctx), core.NewID()
	c.SetSubject(id)
	m.effect = id
	err := r.db.Users().InsertUser(ctx, access.User{ID: id, Email: id + "." + in.Email, Name: "effect", CreatedAt: c.Now})
	if err == nil && m.kind == fails {
		err = errOperation
	}
	return effectOut{ID: id}, err
}

// call makes a call of an operation with the simulated failure m.
func (r *rig) call(operation string, req guardrails.Request, m *failurePlan) (guardrails.Result, *core.Error) {
	op, _ := r.catalogue.Operation(operation)
	ctx, leave := context.WithCancel(context.WithValue(context.Background(), failurePlanKey{}, m))
	defer leave()
	m.leave = leave
	result, err := op.Call(ctx, req)
	return result, core.AsError(err)
}

// effects maps each request id to the ids of the users that the organization's committed
// calls with that request id inserted. It reads them from the audit log.
func (r *rig) effects(orgID string) (map[string][]string, error) {
	events, err := r.db.Audit().FindAudit(context.Background(), orgID, access.AuditFilter{Limit: 10_000})
	found := make(map[string][]string)
	for _, e := range events {
		found[e.RequestID] = append(found[e.RequestID], e.SubjectID)
	}
	return found, err
}

// sayingSo has arguments, as JSON, for calls of the test operations. The second and the
// third element are different texts of the same JSON value.
var sayingSo = []json.RawMessage{
	json.RawMessage(`{"email":"ann@example.com"}`),
	json.RawMessage(`{"email":"bob@example.com","note":"é"}`),
	json.RawMessage(`{ "note":"\u00e9", "email":"bob@example.com" }`),
}
