package guardrails_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"github.com/prometheus/client_golang/prometheus"
)

type noMetrics struct{ prometheus.Registerer }

func (noMetrics) MustRegister(...prometheus.Collector) {}

func withKey(key string) func(*guardrails.Request) {
	return func(r *guardrails.Request) { r.IdempotencyKey = key }
}

func withRESTKey(key string) func(*guardrails.Request) {
	return func(r *guardrails.Request) { r.Surface, r.IdempotencyKey = core.REST, key }
}

// TestReplayWindows checks how long a repeated call gets the stored result. The time is 24
// hours for a key that the client sent, and five minutes for a key that was derived from
// the call.
func TestReplayWindows(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for name, tc := range map[string]struct {
			edit   func(*guardrails.Request)
			within time.Duration
			beyond time.Duration
		}{
			"explicit, agent": {withKey("k-1"), 24*time.Hour - time.Second, 2 * time.Second},
			"explicit, REST":  {withRESTKey("k-1"), 24*time.Hour - time.Second, 2 * time.Second},
			"derived":         {nil, 5*time.Minute - time.Second, 2 * time.Second},
		} {
			t.Run(name, func(t *testing.T) {
				b := setupOn(t, db)
				first := mustCall(t, b, "op_write", tc.edit)
				b.clock.advance(tc.within)
				again := mustCall(t, b, "op_write", tc.edit)
				if !again.Replayed || idOf(again) != idOf(first) || !again.Created {
					t.Errorf("within the window: %+v, want a replay of %s", again, idOf(first))
				}
				b.clock.advance(tc.beyond)
				later := mustCall(t, b, "op_write", tc.edit)
				if later.Replayed || idOf(later) == idOf(first) {
					t.Errorf("beyond the window: %+v, want a new effect", later)
				}
				if n := b.countAudited(t); n != 2 {
					t.Errorf("%d audit lines, want 2", n)
				}
			})
		}
	})
}

// TestReplayPeriodOfAnOrganization checks an organization that keeps results of calls for seven
// days. A key gets the first answer again for that time, and not for longer; a derived key still
// counts for five minutes, and another organization keeps its day. A shorter period applies to
// later calls at once, and to earlier ones when the retention job deletes them.
func TestReplayPeriodOfAnOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b, other := setupOn(t, db), setupOn(t, db)
		keep := func(days int) {
			t.Helper()
			err := retentionstore.New(db.DB).SetDays(t.Context(), b.principal.Org.ID, retention.Replay, &days, b.clock.Now())
			if err == nil {
				b.principal.Org, err = db.Orgs().Org(t.Context(), b.principal.Org.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, b *bundle, edit func(*guardrails.Request), replayed bool) {
			t.Helper()
			if result := mustCall(t, b, "op_write", edit); result.Replayed != replayed {
				t.Errorf("%s: replayed %v, want %v", when, result.Replayed, replayed)
			}
		}
		advance := func(d time.Duration) {
			t.Helper()
			b.clock.advance(d)
			other.clock.advance(d)
			if _, err := db.Replay().Purge(t.Context(), b.clock.Now()); err != nil {
				t.Fatal(err)
			}
		}
		keep(7)
		check("first call", b, withRESTKey("k"), false)
		check("first call without a key", b, nil, false)
		check("first call of another organization", other, withRESTKey("k"), false)
		advance(5 * time.Minute)
		check("without a key after five minutes", b, nil, false)
		advance(3 * 24 * time.Hour)
		check("after three days", b, withRESTKey("k"), true)
		check("another organization after three days", other, withRESTKey("k"), false)
		advance(4*24*time.Hour - 5*time.Minute)
		check("after seven days", b, withRESTKey("k"), false)
		keep(1)
		check("after the change, later call", b, withKey("later"), false)
		advance(24 * time.Hour)
		check("after the change, earlier call", b, withRESTKey("k"), true)
		check("after the change, a day later", b, withKey("later"), false)
		deleted, err := retentionstore.New(db.DB).DeleteOld(t.Context(), b.principal.Org.ID, retention.Replay, b.clock.Now().Add(time.Second-24*time.Hour), 10)
		if err != nil || deleted != 1 {
			t.Errorf("deleted %d, %v", deleted, err)
		}
		check("after the job", b, withRESTKey("k"), false)
		check("younger than the period", b, withKey("later"), true)
	})
}

func mustCall(t *testing.T, b *bundle, operation string, edit func(*guardrails.Request)) guardrails.Result {
	t.Helper()
	result, err := b.call(t, operation, edit)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestRESTRemembersExplicitKeysOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first, second := mustCall(t, b, "op_write", withRESTKey("")), mustCall(t, b, "op_write", withRESTKey(""))
	if second.Replayed || idOf(first) == idOf(second) {
		t.Error("two calls without a key must be two effects")
	}
}

// TestAnIgnoredKeyReplaysForAgentsOnly checks an operation with IgnoresKey: a call over REST
// or on the dashboard takes effect each time, also with the same key. A call of an agent
// with the same key, or with none, takes effect once.
func TestAnIgnoredKeyReplaysForAgentsOnly(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		for surface, effects := range map[core.Surface]int{core.REST: 2, core.Dashboard: 2, core.Agent: 1} {
			for _, key := range []string{"k", ""} {
				before := b.countAudited(t)
				var ids []string
				for range 2 {
					ids = append(ids, idOf(mustCall(t, b, "op_message", func(r *guardrails.Request) { r.Surface, r.IdempotencyKey = surface, key })))
				}
				if got := b.countAudited(t) - before; got != effects || (ids[0] == ids[1]) != (effects == 1) {
					t.Errorf("%s with the key %q: %d effects, results %v", surface, key, got, ids)
				}
			}
		}
	})
}

func TestAFreshKeyBypassesADerivedReplay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := mustCall(t, b, "op_write", nil)
	if fresh := mustCall(t, b, "op_write", withKey("fresh")); fresh.Replayed || idOf(fresh) == idOf(first) {
		t.Errorf("got %+v", fresh)
	}
}

func TestArgumentsThatMeanTheSameAreTheSame(t *testing.T) {
	t.Parallel()
	b := setup(t)
	say := func(s string) func(*guardrails.Request) {
		return func(r *guardrails.Request) { r.Arguments = json.RawMessage(s) }
	}
	mustCall(t, b, "op_write", say(`{"email":"ann@example.com","note":"é"}`))
	if r := mustCall(t, b, "op_write", say(`{ "note" : "\u00e9", "email":"ann@example.com" }`)); !r.Replayed {
		t.Error("spacing, order and escapes are not meaning")
	}
	if r := mustCall(t, b, "op_write", say(`{"email":"ann@example.com","note":"e"}`)); r.Replayed {
		t.Error("another value is another call")
	}
}

func TestOtherArgumentsWithOneKeyConflict(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mustCall(t, b, "op_write", withKey("k"))
	_, err := b.call(t, "op_write", func(r *guardrails.Request) {
		r.IdempotencyKey, r.Arguments = "k", json.RawMessage(`{"email":"bob@example.com"}`)
	})
	wantCode(t, err, core.CodeConflict)
	if err.RetryAfter != 0 {
		t.Error("repeating this call would never help")
	}
}

func TestKeysAreApart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := mustCall(t, b, "op_write", withKey("k"))
	other := b.principal
	other.Credential.ID = core.NewID()
	for name, edit := range map[string]func(*guardrails.Request){
		"another operation": withKey("k"),
		"over REST":         withRESTKey("k"),
	} {
		operation := "op_write"
		if name == "another operation" {
			operation = "op_destroy"
		}
		if r := mustCall(t, b, operation, edit); r.Replayed || idOf(r) == idOf(first) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := mustCall(t, b, "op_write", func(r *guardrails.Request) { r.Principal = other }); r.Replayed {
		t.Error("a derived key belongs to its caller")
	}
}

func TestAFailureGivesTheKeyBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.failNext = errors.New("no")
	_, err := b.call(t, "op_write", withKey("k"))
	wantCode(t, err, core.CodeInternalError)
	if r := mustCall(t, b, "op_write", withKey("k")); r.Replayed {
		t.Error("a failed call stored a result")
	}
}

func TestADuplicateInFlightGetsRetryAfter(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := b.call(t, "op_block", withKey("k")); err != nil {
				t.Error(err)
			}
		})
		<-b.entered
		_, err := b.call(t, "op_block", withKey("k"))
		if err == nil || err.Code != core.CodeConflict || err.RetryAfter != time.Second {
			t.Errorf("error = %v, want conflict to retry after a second", err)
		}
		close(b.release)
		wait.Wait()
		if r := mustCall(t, b, "op_block", withKey("k")); !r.Replayed {
			t.Error("after the first finished, its result is the answer")
		}
	})
}

func TestALeaseFreesTheKeyOfACrash(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		key := replay.Key{OrgID: b.principal.Org.ID, Space: "agent:op_write", Key: "k"}
		if _, won, err := db.Replay().Reserve(t.Context(), key, replay.Claim{Digest: "digest of a call that died"}, b.clock.Now()); err != nil || !won {
			t.Fatal(won, err)
		}
		_, err := b.call(t, "op_write", withKey("k"))
		wantCode(t, err, core.CodeConflict)
		b.clock.advance(replay.Lease + time.Second)
		mustCall(t, b, "op_write", withKey("k"))
	})
}

func TestManyAtOnceHaveOneEffect(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				_, err := b.call(t, "op_write", withKey("k"))
				if err != nil && (err.Code != core.CodeConflict || err.RetryAfter == 0) {
					t.Errorf("error = %v", err)
				}
			})
		}
		wait.Wait()
		if n := b.countAudited(t); n != 1 {
			t.Errorf("%d effects, want 1", n)
		}
	})
}
