package guardrails_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/guardrails"
	"pgregory.net/rapid"
)

// schedules generates lists of up to thirty steps. They use few keys, so that calls often
// have the same key.
var schedules = rapid.SliceOfN(rapid.Custom(drawAct), 1, 30)

func drawAct(t *rapid.T) act {
	kinds := []string{"call", "call", "call", "call", "hold", "finish", "finish", "wait", "wait", "purge"}
	waits := []time.Duration{time.Second, 59 * time.Second, time.Minute, 4 * time.Minute, time.Hour, 24 * time.Hour}
	a := act{
		Kind:    rapid.SampledFrom(kinds).Draw(t, "kind"),
		Caller:  rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "caller"),
		Surface: rapid.SampledFrom([]core.Surface{core.Agent, core.Agent, core.REST}).Draw(t, "surface"),
		Op:      rapid.SampledFrom([]string{"op_one", "op_one", "op_two"}).Draw(t, "operation"),
		Key:     rapid.SampledFrom([]string{"", "k1", "k1", "k2"}).Draw(t, "key"),
		Args:    rapid.SampledFrom([]int{1, 1, 2, 0}).Draw(t, "arguments"),
		Failure: rapid.SampledFrom(append([]failureKind{lives, lives, lives}, failureKinds...)).Draw(t, "failure"),
		Which:   rapid.IntRange(0, 3).Draw(t, "which"),
		Edge:    rapid.Bool().Draw(t, "edge"),
	}
	a.Wait = rapid.SampledFrom(waits).Draw(t, "wait")
	if a.Edge {
		a.Wait = rapid.SampledFrom([]time.Duration{-time.Millisecond, 0, time.Millisecond}).Draw(t, "off")
	}
	return a
}

// play runs a schedule with real calls and in the model. It fails at the first difference.
func play(r *rig, schedule []act) error {
	p := &player{rig: r, model: newModel(r.clock.Now())}
	defer p.releaseHeld()
	for i, a := range schedule {
		if err := p.do(a); err != nil {
			return fmt.Errorf("act %d of %+v: %w", i, schedule, err)
		}
	}
	for len(p.held) > 0 {
		if err := p.do(act{Kind: "finish"}); err != nil {
			return fmt.Errorf("after %+v: %w", schedule, err)
		}
	}
	return nil
}

type player struct {
	*rig
	model *model
	held  []*heldCall
}

// heldCall is a call that has reserved its key and waits until the test lets it continue.
type heldCall struct {
	attempt *attempt
	plan    *failurePlan
	resume  func()
	answer  chan verdict
}

// releaseHeld ends the calls that still wait after the schedule failed.
func (p *player) releaseHeld() {
	for _, h := range p.held {
		h.resume()
		<-h.answer
	}
}

func (p *player) do(a act) error {
	switch a.Kind {
	case "call":
		return p.callNow(a)
	case "hold":
		return p.startHeldCall(a)
	case "finish":
		if len(p.held) == 0 {
			return nil
		}
		at := a.Which % len(p.held)
		h := p.held[at]
		p.held = append(p.held[:at:at], p.held[at+1:]...)
		h.resume()
		return p.check(h.attempt, h.plan, <-h.answer)
	case "wait":
		p.wait(a)
	case "purge":
		p.model.purge()
		_, err := p.db.Replay().Purge(context.Background(), p.clock.Now())
		return err
	}
	return nil
}

// wait advances the clocks of the real calls and of the model. If a.Edge is set, it
// advances them to about the time at which a replay record expires.
func (p *player) wait(a act) {
	to := p.model.now.Add(a.Wait)
	if a.Edge {
		to = p.model.now
		if ends := p.model.ends(); len(ends) > 0 {
			to = ends[a.Which%len(ends)].Add(a.Wait)
		}
	}
	if to.After(p.model.now) {
		p.model.now = to
		p.clock.set(to)
	}
}

func (c *testClock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
}

func (p *player) request(a act) guardrails.Request {
	return guardrails.Request{Principal: p.callers[a.Caller], Surface: a.Surface, RequestID: "r", Arguments: sayingSo[a.Args], IdempotencyKey: a.Key}
}

func (p *player) callNow(a act) error {
	t := p.model.attempt(a, p.callers[a.Caller])
	want, goesOn := p.model.admit(t)
	m := &failurePlan{kind: a.Failure}
	got := verdictOf(p.call(a.Op, p.request(a), m))
	if goesOn {
		return p.check(t, m, got)
	}
	if got != want || m.effect != "" {
		return fmt.Errorf("%+v: answered %+v, want %+v", a, got, want)
	}
	return p.checkEffects(t.org)
}

// startHeldCall starts a call and returns once the call has reserved its key and waits
// inside the operation. If the call cannot reserve its key, startHeldCall compares its
// response with the model's.
func (p *player) startHeldCall(a act) error {
	t := p.model.attempt(a, p.callers[a.Caller])
	want, goesOn := p.model.admit(t)
	plan := &failurePlan{kind: a.Failure}
	entered, resume := plan.pauseCall()
	h := &heldCall{t, plan, resume, make(chan verdict, 1)}
	go func() { h.answer <- verdictOf(p.call(a.Op, p.request(a), h.plan)) }()
	select {
	case <-entered:
		p.held = append(p.held, h)
		if !goesOn {
			return fmt.Errorf("%+v: went on, want %+v", a, want)
		}
		return nil
	case got := <-h.answer:
		if goesOn || got != want {
			return fmt.Errorf("%+v: answered %+v before it went on, want %+v (%t)", a, got, want, goesOn)
		}
		return nil
	}
}

// check compares the response and the effects of a finished call with those of the model.
func (p *player) check(t *attempt, m *failurePlan, got verdict) error {
	want := p.model.end(t, m.effect)
	if t.act.Failure.isAnswered() && got != want {
		return fmt.Errorf("%+v: ended with %+v, want %+v", t.act, got, want)
	}
	return p.checkEffects(t.org)
}

func (p *player) checkEffects(orgID string) error {
	found, err := p.effects(orgID)
	if err != nil {
		return err
	}
	if want := p.model.effects[orgID]; len(found["r"]) != len(want) {
		return fmt.Errorf("%d effects, want %d", len(found["r"]), len(want))
	}
	for _, id := range found["r"] {
		if !p.model.effects[orgID][id] {
			return fmt.Errorf("effect %s should not be", id)
		}
	}
	return nil
}
