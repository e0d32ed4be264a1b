package engine_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

const officeHours = "send window 9am-6pm in contact timezone\n"

var evening = time.Date(2026, 6, 15, 20, 0, 0, 0, time.UTC)

// sendCases has the ways of a run through a send and an exit, with settings of the workflow.
var sendCases = map[string]struct {
	settings string
	start    time.Time
	hold     bool
	acts     func(j *journey)
	want     string
}{
	"passed on and sent": {
		"", noon, false,
		func(j *journey) {
			j.advance().wantPhase("0", engine.Sending).after(time.Hour).wantPhase("0", engine.Sending)
			j.sent().wantStatus(engine.Completed)
		},
		`0s 0 step_entered
			0s -> send welcome from 0
			1h0m0s 1 step_entered
			1h0m0s 1 completed step`,
	},
	"held and approved": {
		"", noon, true,
		func(j *journey) {
			j.advance().wantPhase("0", engine.Held).after(time.Hour).wantPhase("0", engine.Held)
			j.decide(engine.Approved).wantPhase("0", engine.Sending).sent()
		},
		`0s 0 step_entered
			0s 0 send_held
			1h0m0s -> send welcome from 0
			1h0m0s 1 step_entered
			1h0m0s 1 completed step`,
	},
	"held and skipped": {
		"", noon, true,
		func(j *journey) { j.advance().decide(engine.Skipped) },
		`0s 0 step_entered
			0s 0 send_held
			0s 0 send_skipped
			0s 1 step_entered
			0s 1 completed step`,
	},
	"held and cancelled": {
		"", noon, true,
		func(j *journey) { j.advance().decide(engine.Cancelled).wantStatus(engine.Exited) },
		`0s 0 step_entered
			0s 0 send_held
			0s 0 exited cancelled`,
	},
	"approved outside of the window": {
		officeHours, evening, true,
		func(j *journey) {
			j.advance().wantPhase("0", engine.Held).wantNoTimer()
			j.decide(engine.Approved).wantPhase("0", engine.Delayed).wantWake(13*time.Hour, false)
			j.awake().wantPhase("0", engine.Sending).sent()
			if j.state.Passed {
				j.t.Error("the approval outlived its step")
			}
		},
		`0s 0 step_entered
			0s 0 send_held
			13h0m0s -> send welcome from 0
			13h0m0s 1 step_entered
			13h0m0s 1 completed step`,
	},
	"delayed, woken early and then late": {
		officeHours, evening, false,
		func(j *journey) {
			j.advance().after(time.Hour).wantPhase("0", engine.Delayed).wantWake(13*time.Hour, false)
			j.after(24*time.Hour).wantPhase("0", engine.Delayed).wantWake(37*time.Hour, false).awake()
		},
		`0s 0 step_entered
			37h0m0s -> send welcome from 0`,
	},
	"exits are tested after a delay": {
		officeHours + "exit \"bought\" when attr.vip = true\n", evening, false,
		func(j *journey) { j.advance().set("vip", predicate.BoolValue(true)).awake() },
		`0s 0 step_entered
			13h0m0s 0 exited named bought`,
	},
	"exits are tested after an approval": {
		"exit \"bought\" when attr.vip = true\n", noon, true,
		func(j *journey) {
			j.advance().set("vip", predicate.BoolValue(true)).after(time.Hour).wantStatus(engine.Active).decide(engine.Approved)
		},
		`0s 0 step_entered
			0s 0 send_held
			1h0m0s 0 exited named bought`,
	},
	"consent is tested after an approval": {
		"", noon, true,
		func(j *journey) {
			j.advance()
			j.facts.Subject.UnsubscribedFromAll = true
			j.decide(engine.Approved)
		},
		`0s 0 step_entered
			0s 0 send_held
			0s 0 send_filtered account unsubscribed_all
			0s 1 step_entered
			0s 1 completed step`,
	},
	"consent is tested after a delay": {
		officeHours, evening, false,
		func(j *journey) {
			j.advance()
			j.facts.Subject.Suppressed = true
			j.awake()
		},
		`0s 0 step_entered
			13h0m0s 0 send_filtered account suppressed
			13h0m0s 1 step_entered
			13h0m0s 1 completed step`,
	},
}

func TestSendPhases(t *testing.T) {
	t.Parallel()
	for name, c := range sendCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := beginAt(t, c.start, c.settings+"send \"welcome\"\nexit")
			j.facts.Hold = c.hold
			c.acts(j)
			j.want(c.want)
		})
	}
}

// TestApprovalHoldsForOneSend checks that each send waits for an approval of its own.
func TestApprovalHoldsForOneSend(t *testing.T) {
	t.Parallel()
	j := begin(t, "send \"a\"\nsend \"b\"")
	j.facts.Hold = true
	j.advance().decide(engine.Approved).sent().wantPhase("1", engine.Held)
}

func TestConsent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send    string
		subject predicate.Subject
		want    string
	}{
		"no choice, no topic":                 {`send "a"`, predicate.Subject{}, ""},
		"in by default":                       {`send "a" via topic news`, predicate.Subject{}, ""},
		"out by default":                      {`send "a" via topic offers`, predicate.Subject{}, "topic opted_out"},
		"in by choice":                        {`send "a" via topic offers`, predicate.Subject{Topics: map[string]bool{"offers": true}}, ""},
		"out by choice":                       {`send "a" via topic news`, predicate.Subject{Topics: map[string]bool{"news": false}}, "topic opted_out"},
		"out of another topic":                {`send "a" via topic news`, predicate.Subject{Topics: map[string]bool{"offers": false}}, ""},
		"unsubscribed from all":               {`send "a"`, predicate.Subject{UnsubscribedFromAll: true}, "account unsubscribed_all"},
		"unsubscribed from all, with a topic": {`send "a" via topic news`, predicate.Subject{UnsubscribedFromAll: true, Topics: map[string]bool{"news": false}}, "account unsubscribed_all"},
		"a stub":                              {`send "a"`, predicate.Subject{Stub: true}, "account unsubscribed_all"},
		"suppressed":                          {`send "a"`, predicate.Subject{Suppressed: true, UnsubscribedFromAll: true}, "account suppressed"},
		"transactional":                       {`send "a" transactional`, predicate.Subject{UnsubscribedFromAll: true}, ""},
		"transactional to a stub":             {`send "a" transactional`, predicate.Subject{Stub: true}, ""},
		"transactional, suppressed":           {`send "a" transactional`, predicate.Subject{Suppressed: true}, "account suppressed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := begin(t, c.send)
			j.facts.Subject = &c.subject
			j.advance()
			if c.want == "" {
				j.wantPhase("0", engine.Sending)
				return
			}
			j.want("0s 0 step_entered\n0s 0 send_filtered " + c.want + "\n0s 0 completed").wantStatus(engine.Completed)
		})
	}
}

func TestFrequencyCap(t *testing.T) {
	t.Parallel()
	organization := &language.Cap{Messages: 1, Per: language.Duration{Amount: 1, Unit: predicate.Day}}
	for name, c := range map[string]struct {
		settings string
		cap      *language.Cap
		mailed   []time.Duration
		send     string
		capped   bool
	}{
		"no limit":                           {"", nil, []time.Duration{0, 0, 0}, `send "a"`, false},
		"limit of the organization":          {"", organization, []time.Duration{time.Hour}, `send "a"`, true},
		"beyond the time of the limit":       {"", organization, []time.Duration{day + time.Microsecond}, `send "a"`, false},
		"at the edge of the limit":           {"", organization, []time.Duration{day}, `send "a"`, true},
		"transactional":                      {"", organization, []time.Duration{time.Hour}, `send "a" transactional`, true},
		"limit of the workflow":              {"frequency cap 3 per week\n", organization, []time.Duration{time.Hour, 2 * time.Hour}, `send "a"`, false},
		"limit of the workflow, reached":     {"frequency cap 3 per week\n", nil, []time.Duration{time.Hour, 2 * time.Hour, 6 * day}, `send "a"`, true},
		"the workflow has no limit":          {"frequency cap off\n", organization, []time.Duration{time.Hour}, `send "a"`, false},
		"limit off":                          {"", &language.Cap{Off: true}, []time.Duration{time.Hour}, `send "a"`, false},
		"the limit comes before suppression": {"", organization, []time.Duration{time.Hour}, `send "a"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := begin(t, c.settings+c.send)
			j.facts.Cap = c.cap
			j.facts.Subject.Suppressed = c.capped
			for _, ago := range c.mailed {
				j.mailed = append(j.mailed, noon.Add(-ago))
			}
			j.advance()
			if !c.capped {
				j.wantPhase("0", engine.Sending)
				return
			}
			j.want("0s 0 step_entered\n0s 0 send_filtered frequency_cap frequency_cap\n0s 0 completed")
		})
	}
}
