package guardrails_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// historyInput is a request of a client in a recorded history. If look is true, it is not a
// client's request but the test's final read of all effects of a key.
type historyInput struct {
	key  string
	args int
	look bool
}

// historyOutput is the response to a request, or the result of the final read.
type historyOutput struct {
	what what
	ids  string // id of the effect; for a final read, all ids joined with commas
}

type what string

const (
	made     what = "made"      // the one effect
	replayed what = "replayed"  // the one effect's answer
	busy     what = "busy"      // the same call still runs
	conflict what = "conflict"  // other arguments
	lost     what = "lost"      // another call took over the key, so this call had no effect
	failed   what = "failed"    // surely nothing
	silent   what = "no answer" // perhaps an effect
	looked   what = "looked"
)

// keyState is the model's state of one idempotency key: whether a call with the key has had
// an effect, the arguments of that call, and the id of the effect. The id is "" if only a
// call without a response can have caused the effect.
type keyState struct {
	done bool
	args int
	id   string // "" while unknown
}

// oneEffect is the model that recorded histories are checked against: an idempotency key
// has at most one effect, and every response reports that effect.
var oneEffect = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, op := range history {
			key := op.Input.(historyInput).key
			byKey[key] = append(byKey[key], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{keyState{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(keyState), input.(historyInput), output.(historyOutput)
		after := keyState{done: true, args: in.args, id: out.ids}
		same := s.done && s.args == in.args && (s.id == "" || s.id == out.ids)
		switch {
		case out.what == made && !s.done, out.what == replayed && same:
			return []any{after}
		case out.what == busy && !s.done, out.what == conflict && (!s.done || s.args != in.args), out.what == lost, out.what == failed:
			return []any{s}
		case out.what == looked && (s.done == (out.ids != "")) && (s.id == "" || s.id == out.ids) && !strings.Contains(out.ids, ","):
			return []any{s}
		case out.what == silent && !s.done:
			return []any{s, keyState{done: true, args: in.args}}
		case out.what == silent:
			return []any{s}
		}
		return nil
	},
}).ToModel()

const (
	clients        = 8
	callsPerClient = 6
)

// history records the requests and responses of concurrent clients that all use the same
// two idempotency keys.
type history struct {
	*rig
	tick atomic.Int64
	mu   sync.Mutex
	all  []porcupine.Operation
	// active counts the clients that neither pause nor have ended. changed is signalled when
	// active or all changes.
	active  int
	changed *sync.Cond
}

// observe runs concurrent clients with random calls. It returns the history of their calls,
// with a final read of all effects.
func observe(r *rig, seed uint64) ([]porcupine.Operation, error) {
	h := &history{rig: r, active: clients}
	h.changed = sync.NewCond(&h.mu)
	var wait sync.WaitGroup
	for client := range clients {
		wait.Go(func() {
			chance := rand.New(rand.NewPCG(seed, uint64(client)))
			for range callsPerClient {
				h.one(client, chance)
			}
			h.rest(0)
		})
	}
	wait.Wait()
	found, err := h.effects(h.callers[0].Org.ID)
	for _, key := range []string{"k1", "k2"} {
		ids := found[key]
		slices.Sort(ids)
		h.add(clients, historyInput{key: key, look: true}, historyOutput{looked, strings.Join(ids, ",")}, h.tick.Add(1))
	}
	return h.all, err
}

// one makes one random call of a client and records it. Sometimes it first advances the
// clock until leases expire.
func (h *history) one(client int, chance *rand.Rand) {
	in := historyInput{key: "k" + fmt.Sprint(1+chance.IntN(2)), args: chance.IntN(4) / 3}
	m := &failurePlan{kind: lives}
	if chance.IntN(2) == 0 {
		m.kind = failureKinds[chance.IntN(len(failureKinds))]
	}
	if chance.IntN(2) == 0 {
		calls := 1 + chance.IntN(clients)
		m.pause = func() { h.rest(calls) }
	}
	if chance.IntN(6) == 0 {
		h.clock.advance(61 * time.Second)
	}
	began := h.tick.Add(1)
	result, err := h.call("op_one", guardrails.Request{
		Principal: h.callers[client%2], Surface: core.Agent, RequestID: in.key, Arguments: sayingSo[in.args], IdempotencyKey: in.key,
	}, m)
	h.add(client, in, outputOf(result, err, m.kind), began)
}

// rest makes a client inactive until the other clients have ended this many further calls,
// or until no client is active. So the calls of several clients overlap, whatever the
// order in which Go runs goroutines. For 0 calls, rest marks the client as ended and
// returns at once.
func (h *history) rest(calls int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active--
	h.changed.Broadcast()
	if calls == 0 {
		return
	}
	for until := len(h.all) + calls; len(h.all) < until && h.active > 0; {
		h.changed.Wait()
	}
	h.active++
}

func (h *history) add(client int, in historyInput, out historyOutput, began int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ended := h.tick.Add(1)
	if out.what == silent {
		ended = math.MaxInt64 // there was no response: the call may take effect at any later time, or never
	}
	defer h.changed.Broadcast()
	h.all = append(h.all, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: began, Return: ended})
}

// outputOf returns the response as the client sees it. It is "no answer" if the client
// disconnected or the process ended.
func outputOf(result guardrails.Result, err *core.Error, f failureKind) historyOutput {
	switch {
	case !f.isAnswered():
		return historyOutput{what: silent}
	case err == nil && result.Replayed:
		return historyOutput{replayed, idOf(result)}
	case err == nil:
		return historyOutput{made, idOf(result)}
	case err.Code == core.CodeConflict && err.RetryAfter > 0:
		return historyOutput{what: busy}
	case err.Code == core.CodeConflict && strings.Contains(err.Message, "took over"):
		return historyOutput{what: lost}
	case err.Code == core.CodeConflict:
		return historyOutput{what: conflict}
	}
	return historyOutput{what: failed}
}

// TestHistoriesAreLinearizable checks histories of concurrent clients. For each history
// there must be an order of the calls in which each idempotency key has one effect. All
// responses to calls with this key must report that effect.
func TestHistoriesAreLinearizable(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		effects := 0
		for seed := range uint64(12) {
			all, err := observe(newRig(t, db, nil), seed)
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range all {
				if op.Output.(historyOutput).what == made {
					effects++
				}
			}
			if !porcupine.CheckOperations(oneEffect, all) {
				t.Errorf("seed %d: no order explains %+v", seed, all)
			}
		}
		if effects == 0 {
			t.Error("nothing was done in any history")
		}
	})
}

// TestLinearizabilityCheckDetectsFaults checks that the check of histories detects three
// of the faulty stores and transactors in the variable breakages. The faulty store of
// type generous cannot be detected: reservation tokens prevent a second effect in spite
// of its fault.
func TestLinearizabilityCheckDetectsFaults(t *testing.T) {
	t.Parallel()
	const histories = 60
	for _, name := range []string{"careless", "loose", "forgetful"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storagetest.SQLite(t)
			for seed := range uint64(histories) {
				all, err := observe(newRig(t, db, breakages[name]), seed)
				if err != nil {
					t.Fatal(err)
				}
				if !porcupine.CheckOperations(oneEffect, all) {
					t.Logf("seen in history %d", seed)
					return
				}
			}
			t.Error("no history shows it")
		})
	}
}
