package guardrails_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/guardrails"
)

// act is one step of a schedule, which is a random list of steps. An impossible step, such
// as finishing a held call when no call is held, does nothing. So every part of a schedule
// is a valid schedule.
type act struct {
	Kind    string // call, hold, finish, wait, purge
	Caller  int
	Surface core.Surface
	Op, Key string
	Args    int
	Failure failureKind
	// for Kind "finish", the index of a held call; for Kind "wait", the index of the expiry
	// in the list of expiries
	Which int
	Wait  time.Duration // how long to wait; if Edge is set, the offset from the chosen expiry
	Edge  bool
}

// model computes the expected results of calls in a simple way and without a database.
type model struct {
	now     time.Time
	records map[string]record
	effects map[string]map[string]bool // org id → ids
	calls   int
}

type record struct {
	owner  int
	digest string
	until  time.Time
	result string // the effect's id once done
}

func newModel(now time.Time) *model {
	return &model{now: now, records: map[string]record{}, effects: map[string]map[string]bool{}}
}

// attempt is one call that the model simulates.
type attempt struct {
	act    act
	org    string
	number int
	key    string // "" for none
	digest string
	began  time.Time
	window time.Duration
}

func (m *model) attempt(a act, p core.Principal) *attempt {
	m.calls++
	meaning := min(a.Args, 1) // the second and third arguments in the list sayingSo are equal JSON values
	t := &attempt{act: a, org: p.Org.ID, number: m.calls, digest: fmt.Sprint(a.Op, meaning), began: m.now, window: 24 * time.Hour}
	switch {
	case a.Key != "":
		t.key = fmt.Sprint(t.org, a.Surface, a.Op, a.Key)
	case a.Surface == core.Agent:
		t.key, t.window = fmt.Sprint(p.Credential.ID, "derived", t.digest), 5*time.Minute
	}
	return t
}

// verdict is the response to a call without its text. An empty code means success.
type verdict struct {
	code  core.Code
	again time.Duration // Retry-After
	// id of the effect, if the response is a replay of that effect's result; otherwise ""
	replayed string
}

// admit decides whether a call may run the operation. If not, it returns the expected
// response: a replay or a conflict.
func (m *model) admit(t *attempt) (verdict, bool) {
	if t.key == "" {
		return verdict{}, true
	}
	r, found := m.records[t.key]
	switch {
	case !found || !m.now.Before(r.until):
		m.records[t.key] = record{owner: t.number, digest: t.digest, until: m.now.Add(replay.Lease)}
		return verdict{}, true
	case r.digest != t.digest:
		return verdict{code: core.CodeConflict}, false
	case r.result == "":
		return verdict{code: core.CodeConflict, again: time.Second}, false
	}
	return verdict{replayed: r.result}, false
}

// end returns the expected response of a call that ran the operation. The parameter effect
// is the id of the user that the operation inserted.
func (m *model) end(t *attempt, effect string) verdict {
	r, found := m.records[t.key]
	mine := found && r.owner == t.number
	f := t.act.Failure
	switch {
	case f.commits() && (mine || t.key == ""):
		if t.key != "" {
			r.result, r.until = effect, t.began.Add(t.window)
			m.records[t.key] = r
		}
		if m.effects[t.org] == nil {
			m.effects[t.org] = map[string]bool{}
		}
		m.effects[t.org][effect] = true
		return verdict{}
	case mine && !f.dies():
		delete(m.records, t.key)
	}
	if f == fails {
		return verdict{code: core.CodeInternalError}
	}
	return verdict{code: core.CodeConflict} // the lease of the call expired, and another call took the key over
}

func (m *model) purge() {
	maps.DeleteFunc(m.records, func(_ string, r record) bool { return !m.now.Before(r.until) })
}

// ends returns the times at which the stored records expire, earliest first.
func (m *model) ends() []time.Time {
	var all []time.Time
	for _, r := range m.records {
		if m.now.Before(r.until) {
			all = append(all, r.until)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// verdictOf converts the response of a real call to a verdict, so that it can be compared
// with the model's verdict.
func verdictOf(result guardrails.Result, err *core.Error) verdict {
	if err != nil {
		return verdict{code: err.Code, again: err.RetryAfter}
	}
	if result.Replayed {
		return verdict{replayed: idOf(result)}
	}
	return verdict{}
}
