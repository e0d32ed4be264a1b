package bulk_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// awayPushes is a store of pushes whose database is away when results are stored, for a number of
// calls. If it is late, it stores them, and the connection breaks before the database says so.
type awayPushes struct {
	bulk.PushStore
	calls int
	late  bool
}

func (a *awayPushes) away(store func() error) error {
	if a.calls == 0 {
		return store()
	}
	if a.calls--; a.late {
		if err := store(); err != nil {
			return err
		}
	}
	return core.TemporarilyUnavailable(errors.New("connection refused"))
}

func (a *awayPushes) SettlePushes(ctx context.Context, orgID string, until, at time.Time, settled []bulk.Push) (int, error) {
	var n int
	err := a.away(func() error {
		var err error
		n, err = a.PushStore.SettlePushes(ctx, orgID, until, at, settled)
		return err
	})
	return n, err
}

func (a *awayPushes) PutOffPushes(ctx context.Context, orgID string, until, next time.Time, contactIDs []string) error {
	return a.away(func() error { return a.PushStore.PutOffPushes(ctx, orgID, until, next, contactIDs) })
}

// TestPushesEndAfterAnOutage lets the database go away while the account answers. Consent that the
// account has accepted must be settled when the database is back, and consent that it refused for now must
// be tried again after its pause, not after the claim.
func TestPushesEndAfterAnOutage(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for name, late := range map[string]bool{"before storing": false, "after storing": true} {
			for _, throttled := range []bool{false, true} {
				b := setupOn(t, db)
				b.SyncNow(t)
				b.FinishRows(t, b.AcceptRows(t, `{"email":"a@x.example","unsubscribe_all":true}`))
				config := b.Pushes.PushConfig
				config.Store = &awayPushes{PushStore: config.Store, calls: 3, late: late}
				if throttled {
					b.Account.Faults().Set(simulator.Fault{Method: simulator.MethodPutContacts, Kind: sending.Throttled})
				}
				if _, err := bulk.NewPushes(config).Push(t.Context(), b.Org.ID); err != nil {
					t.Errorf("%s, throttled %t: %v", name, throttled, err)
				}
				b.Account.Faults().Set()
				b.Advance(time.Minute)
				want := bulk.PushReport{}
				if throttled {
					want.Settled = 1
				}
				if got := b.push(t); got != want {
					t.Errorf("%s, throttled %t: a minute later %+v, want %+v", name, throttled, got, want)
				}
				wantTold(t, b, "a@x.example")
			}
		}
	})
}

// TestPushesEndAfterALongOutage lets the database stay away for longer than the claim. The run must end.
func TestPushesEndAfterALongOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.SyncNow(t)
	b.FinishRows(t, b.AcceptRows(t, `{"email":"a@x.example","unsubscribe_all":true}`))
	config, before := b.Pushes.PushConfig, b.Clock()
	config.Store = &awayPushes{PushStore: config.Store, calls: 10_000}
	if _, err := bulk.NewPushes(config).Push(t.Context(), b.Org.ID); !core.IsOutage(err) {
		t.Errorf("%v, want an outage", err)
	}
	if took := b.Clock().Sub(before); took > 6*time.Minute {
		t.Errorf("the run took %s", took)
	}
	if got := b.push(t); got != (bulk.PushReport{Settled: 1}) {
		t.Errorf("after the claim: %+v", got)
	}
}

// stoppingAccount ends the context of a run while consent is written.
type stoppingAccount struct {
	sending.Account
	stop context.CancelFunc
}

func (a stoppingAccount) PutContacts(ctx context.Context, org string, put []sending.Contact) ([]*sending.Failure, error) {
	a.stop()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return a.Account.PutContacts(ctx, org, put)
}

// TestAStoppedProcessReturnsItsPushes stops a process while it writes consent. Another must write
// it after a pause, not after the claim.
func TestAStoppedProcessReturnsItsPushes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.SyncNow(t)
	b.FinishRows(t, b.AcceptRows(t, `{"email":"a@x.example","unsubscribe_all":true}`))
	ctx, stop := context.WithCancel(t.Context())
	config := b.Pushes.PushConfig
	config.Account = stoppingAccount{config.Account, stop}
	if _, err := bulk.NewPushes(config).Push(ctx, b.Org.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
	b.Advance(time.Minute)
	if got := b.push(t); got != (bulk.PushReport{Settled: 1}) {
		t.Errorf("a minute later: %+v", got)
	}
	wantTold(t, b, "a@x.example")
}

// wantTold checks that the account has the opt-out of an address.
func wantTold(t *testing.T, b bundle, email string) {
	t.Helper()
	if c, found := b.AccountContact(t, email); !found || !c.UnsubscribeAll {
		t.Errorf("the account was not told about %s: %+v", email, c)
	}
}
