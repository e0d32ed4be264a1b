package guardrails_test

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// callOpReach calls op_reach, which needs a confirmation, as the first of the test's
// callers. m is the simulated failure of the call.
func (r *rig) callOpReach(token, key string, m *failurePlan) (guardrails.Result, *core.Error) {
	return r.call("op_reach", guardrails.Request{
		Principal: r.callers[0], Surface: core.Agent, RequestID: "r", Arguments: sayingSo[0], IdempotencyKey: key, Confirmation: token,
	}, m)
}

func (r *rig) askForToken(t *testing.T) string {
	t.Helper()
	asked, err := r.callOpReach("", "", &failurePlan{kind: lives})
	if err != nil || asked.Confirm == nil {
		t.Fatalf("%+v, %v", asked, err)
	}
	return asked.Confirm.Token
}

func (r *rig) countEffects(t *testing.T) int {
	t.Helper()
	found, err := r.effects(r.callers[0].Org.ID)
	if err != nil {
		t.Fatal(err)
	}
	return len(found["r"])
}

// TestAConfirmationIsSpentWithItsEffect checks each simulated failure of a first call with
// a confirmation. A second call with the same confirmation must succeed if and only if the
// first had no effect.
func TestAConfirmationIsSpentWithItsEffect(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, f := range failureKinds {
			for _, key := range []string{"", "k"} {
				t.Run(fmt.Sprintf("%s, key %q", f, key), func(t *testing.T) {
					r := newRig(t, db, nil)
					token := r.askForToken(t)
					first, _ := r.callOpReach(token, key, &failurePlan{kind: f})
					happened := r.countEffects(t)
					if (happened == 1) != f.commits() {
						t.Fatalf("%d effects of the first attempt", happened)
					}
					again, err := r.callOpReach(token, "another", &failurePlan{kind: lives})
					if happened == 1 && (err == nil || err.Code != core.CodeConfirmationInvalid) || happened == 0 && (err != nil || idOf(again) == "") {
						t.Errorf("the second attempt: %+v, %v", again, err)
					}
					if n := r.countEffects(t); n != 1 {
						t.Errorf("%d effects", n)
					}
					if happened == 0 {
						return
					}
					repeated, err := r.callOpReach(token, key, &failurePlan{kind: lives})
					if err != nil || !repeated.Replayed || f == lives && idOf(repeated) != idOf(first) {
						t.Errorf("the same attempt again: %+v, %v", repeated, err)
					}
				})
			}
		}
	})
}

// TestALateConfirmationHasNoSecondEffect checks a call that sends its confirmation in the
// last second of the confirmation's validity, and commits later. If another call used the
// confirmation first, the slow call must fail. It must fail even if expired records were
// purged in between.
func TestALateConfirmationHasNoSecondEffect(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		r := newRig(t, db, nil)
		token := r.askForToken(t)
		r.clock.advance(10*time.Minute - time.Second)
		slow := &failurePlan{kind: lives}
		entered, resume := slow.pauseCall()
		answer := make(chan *core.Error, 1)
		go func() {
			_, err := r.callOpReach(token, "slow", slow)
			answer <- err
		}()
		<-entered
		if _, err := r.callOpReach(token, "quick", &failurePlan{kind: lives}); err != nil {
			t.Error(err)
		}
		r.clock.advance(replay.Lease / 2)
		if _, err := db.Replay().Purge(t.Context(), r.clock.Now()); err != nil {
			t.Error(err)
		}
		resume()
		wantCode(t, <-answer, core.CodeConfirmationInvalid)
		if n := r.countEffects(t); n != 1 {
			t.Errorf("%d effects", n)
		}
	})
}

// TestAPurgeByAFastClockForgetsNoConfirmation checks that a process whose clock is ahead
// does not purge the record of a used confirmation too early. Otherwise the confirmation
// could be used again.
func TestAPurgeByAFastClockForgetsNoConfirmation(t *testing.T) {
	t.Parallel()
	r := newRig(t, storagetest.SQLite(t), nil)
	token := r.askForToken(t)
	if _, err := r.callOpReach(token, "first", &failurePlan{kind: lives}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.db.Replay().Purge(t.Context(), r.clock.Now().Add(replay.PurgeEvery+time.Hour)); err != nil {
		t.Fatal(err)
	}
	_, err := r.callOpReach(token, "second", &failurePlan{kind: lives})
	wantCode(t, err, core.CodeConfirmationInvalid)
}

// TestProcessesOverOneDatabaseShareConfirmations checks that a process accepts a
// confirmation that another process issued. If many callers send it to both processes at
// the same time, only one call has an effect.
func TestProcessesOverOneDatabaseShareConfirmations(t *testing.T) {
	t.Parallel()
	config := storage.Config{URL: enginetest.PostgresURL(t), MaxConns: 4}
	one, two := newRig(t, storagetest.Open(t, config), nil), newRig(t, storagetest.Open(t, config), nil)
	two.callers = one.callers
	token := one.askForToken(t)
	var wait sync.WaitGroup
	var done atomic.Int32
	for i := range 60 {
		process := []*rig{one, two}[i%2]
		wait.Go(func() {
			_, err := process.callOpReach(token, strconv.Itoa(i), &failurePlan{kind: lives})
			switch {
			case err == nil:
				done.Add(1)
			case err.Code != core.CodeConfirmationInvalid:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if done.Load() != 1 || one.countEffects(t) != 1 || two.countEffects(t) != 1 {
		t.Errorf("%d calls went through, %d effects", done.Load(), one.countEffects(t))
	}
}
