package engine_test

import (
	"iter"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// model interprets the tree of a workflow for one contact, as the manual says it: recursively,
// and with waits that block. It knows nothing of plans and states. resume continues it.
type model struct {
	checked *language.Checked
	subject *predicate.Subject // nil after the contact was archived
	now     time.Time
	hold    bool
	mailed  []time.Time
	// isHeldOut and shareOf stand for the random choice of the engine.
	isHeldOut func(path string, percent int) bool
	shareOf   func(path string, shares []language.Share) int

	// decision is that of a person about a held send; sent is true if the message of a send has
	// an outcome. Both are reset when they are used.
	decision engine.Phase
	sent     bool

	// path is that of the last step, passes the numbers of the passes around it.
	path   string
	passes []int
	// wake is when a wait ends at the latest, zero if no timer ends it. onChange is true if
	// changes also end it.
	wake     time.Time
	onChange bool
	held     bool
	sending  bool
	over     bool

	events  []engine.Event
	effects []string
	resume  func() bool
	stop    func()
	yield   func(struct{}) bool
}

// start prepares the run. Its first resume takes the first steps.
func (m *model) start() {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		m.yield = yield
		if m.subject == nil {
			m.leave(engine.RunExited, engine.ByArchive, "")
		} else if m.block(m.checked.Tree().Body, "") {
			m.leave(engine.RunCompleted, "", "")
		}
		m.over, m.wake, m.onChange, m.held, m.sending = true, time.Time{}, false, false, false
	})
	m.resume = func() bool { _, more := next(); return more }
	m.stop = stop
}

func (m *model) event(e engine.Event) {
	e.Path, e.At = m.path, m.now
	if len(m.passes) > 0 {
		e.Iteration = m.passes[len(m.passes)-1]
	}
	m.events = append(m.events, e)
}

// leave ends the run. It returns false, as all steps do after which the run has ended.
func (m *model) leave(how engine.EventType, kind engine.ExitKind, name string) bool {
	m.event(engine.Event{Type: how, Kind: kind, Exit: name})
	return false
}

// pause waits for the next time that the run is woken. It returns false if the run has ended.
func (m *model) pause() bool {
	if !m.yield(struct{}{}) {
		return false
	}
	m.wake, m.onChange = time.Time{}, false
	if m.subject == nil {
		return m.leave(engine.RunExited, engine.ByArchive, "")
	}
	return true
}

func (m *model) holds(condition *predicate.Tree) bool {
	return condition != nil && m.checked.Condition(condition).Match(*m.subject, m.now) == predicate.True
}

// stays returns false after it has ended the run because an exit matches.
func (m *model) stays() bool {
	for _, exit := range m.checked.Tree().Settings.Exits {
		if m.holds(exit.When) {
			return m.leave(engine.RunExited, engine.ByName, exit.Name)
		}
	}
	return true
}

// block runs the steps of a block. It returns false if the run has ended.
func (m *model) block(b language.Block, prefix string) bool {
	for i, step := range b.Steps {
		m.path = prefix + strconv.Itoa(i)
		if !m.stays() || !m.step(step, m.path) {
			return false
		}
	}
	return true
}

func (m *model) step(step language.Step, path string) bool {
	switch s := step.(type) {
	case *language.If:
		return m.branch(s, path)
	case *language.Split:
		share := m.shareOf(path, s.Shares)
		label := "arm" + strconv.Itoa(share+1)
		m.event(engine.Event{Type: engine.StepEntered, Arm: label})
		return m.block(s.Shares[share].Body, path+"."+label+".")
	}
	m.event(engine.Event{Type: engine.StepEntered})
	switch s := step.(type) {
	case *language.Send:
		return m.send(s)
	case *language.Wait:
		return m.sleep(m.now.Add(span(s.For)))
	case *language.WaitUntil:
		return m.waitUntil(s)
	case *language.WaitFor:
		return m.waitFor(s, path)
	case *language.HoldOut:
		if m.isHeldOut(path, s.Percent) {
			return m.leave(engine.RunExited, engine.ByHoldOut, "")
		}
	case *language.Repeat:
		return m.repeat(s, path)
	case *language.SetAttribute:
		assigned := m.checked.Condition(s.Assignment).Root.(*predicate.Compare)
		value := assigned.Value
		if value.Type == predicate.Datetime && value.Moment.Relative {
			value.Moment = predicate.Moment{Micros: m.now.UnixMicro() + value.Moment.Micros}
		}
		m.subject.Attributes[assigned.Field.Name] = value
		m.effects = append(m.effects, effectWords(&engine.Assignment{Attribute: assigned.Field.Name, Value: value}))
	case *language.AddToList:
		m.subject.Lists[schema.Lists[s.Key]] = true
		m.effects = append(m.effects, effectWords(&engine.Joining{ListID: schema.Lists[s.Key]}))
	case *language.Leave:
		return m.leave(engine.RunCompleted, engine.ByStep, "")
	}
	return true
}

func span(d language.Duration) time.Duration { return time.Duration(d.Micros()) * time.Microsecond }

func (m *model) branch(s *language.If, path string) bool {
	for i, arm := range s.Arms {
		if m.holds(arm.When) {
			label := "then"
			if i > 0 {
				label = "elseif" + strconv.Itoa(i)
			}
			m.event(engine.Event{Type: engine.StepEntered, Detail: label})
			return m.block(arm.Then, path+"."+label+".")
		}
	}
	if s.Else == nil {
		m.event(engine.Event{Type: engine.StepEntered})
		return true
	}
	m.event(engine.Event{Type: engine.StepEntered, Detail: "else"})
	return m.block(*s.Else, path+".else.")
}

func (m *model) started(until time.Time) {
	m.event(engine.Event{Type: engine.WaitStarted, Detail: "until " + until.UTC().Format(time.RFC3339)})
}

func (m *model) sleep(until time.Time) bool {
	m.started(until)
	for m.now.Before(until) {
		m.wake = until
		if !m.pause() {
			return false
		}
	}
	m.event(engine.Event{Type: engine.WaitMet})
	return true
}

func (m *model) waitUntil(s *language.WaitUntil) bool {
	target := func() time.Time {
		if s.Attribute == "" {
			return time.UnixMicro(s.Micros)
		}
		if v, known := m.subject.Attributes[s.Attribute]; known && v.Type == predicate.Datetime {
			return time.UnixMicro(v.Moment.Micros)
		}
		return m.now
	}
	if !target().After(m.now) {
		return true
	}
	m.started(target())
	for target().After(m.now) {
		m.wake, m.onChange = target(), s.Attribute != ""
		if !m.pause() {
			return false
		}
	}
	m.event(engine.Event{Type: engine.WaitMet})
	return true
}

func (m *model) waitFor(s *language.WaitFor, path string) bool {
	until := m.now.Add(span(s.UpTo))
	m.started(until)
	for !m.holds(s.Until) {
		if !m.now.Before(until) {
			m.event(engine.Event{Type: engine.WaitTimedOut})
			return m.block(s.Timeout, path+".timeout.")
		}
		m.wake, m.onChange = until, true
		if !m.pause() {
			return false
		}
	}
	m.event(engine.Event{Type: engine.WaitMet})
	return true
}

func (m *model) repeat(s *language.Repeat, path string) bool {
	for pass := 1; pass <= s.Times && !m.holds(s.Until); pass++ {
		if !m.sleep(m.now.Add(span(s.Every))) {
			return false
		}
		if m.holds(s.Until) {
			return true
		}
		m.passes = append(m.passes, pass)
		if !m.block(s.Body, path+".body.") {
			return false
		}
		m.passes = m.passes[:len(m.passes)-1]
		m.path = path
		if !m.stays() {
			return false
		}
	}
	return true
}

func (m *model) send(s *language.Send) bool {
	for approved := false; ; {
		if m.hold && !approved {
			m.event(engine.Event{Type: engine.SendHeld})
			m.held = true
			for m.decision == "" {
				if !m.pause() {
					return false
				}
			}
			decision := m.decision
			m.held, m.decision = false, ""
			switch decision {
			case engine.Skipped:
				m.event(engine.Event{Type: engine.SendSkipped})
				return true
			case engine.Cancelled:
				return m.leave(engine.RunExited, engine.ByCancel, "")
			}
			if approved = true; !m.stays() {
				return false
			}
		}
		if m.wake = m.opening(); !m.wake.After(m.now) {
			m.wake = time.Time{}
			break
		}
		if !m.pause() || !m.stays() {
			return false
		}
	}
	if tier, reason := m.refusal(s); tier != "" {
		m.event(engine.Event{Type: engine.SendFiltered, Tier: tier, Reason: reason})
		return true
	}
	m.effects = append(m.effects, effectWords(&engine.Message{Path: m.path, Template: s.Template, Topic: s.Topic, Transactional: s.Transactional}))
	for m.sending = true; !m.sent; {
		if !m.pause() {
			return false
		}
	}
	m.sending, m.sent = false, false
	return true
}

// opening searches the opening of the send window minute by minute.
func (m *model) opening() time.Time {
	window := m.checked.Tree().Settings.Window
	if window == nil {
		return m.now
	}
	location, err := time.LoadLocation(m.subject.Attributes[engine.TimezoneAttribute].Text)
	if err != nil {
		location = time.UTC
	}
	at := m.now
	for !opensIn(location, at, window.From, window.Until) {
		at = at.Truncate(time.Minute).Add(time.Minute)
	}
	return at
}

func (m *model) refusal(s *language.Send) (engine.Tier, engine.Reason) {
	if limit := m.checked.Tree().Settings.Cap; limit != nil && !limit.Off {
		recent := 0
		for _, at := range m.mailed {
			if m.now.Sub(at) <= span(limit.Per) {
				recent++
			}
		}
		if recent >= limit.Messages {
			return engine.ByCap, engine.Capped
		}
	}
	subscribed, chosen := m.subject.Topics[s.Topic]
	if !chosen {
		subscribed = schema.Topics[s.Topic]
	}
	switch {
	case m.subject.Suppressed:
		return engine.ByAccount, engine.Suppressed
	case s.Transactional:
		return "", ""
	case m.subject.UnsubscribedFromAll:
		return engine.ByAccount, engine.UnsubscribedAll
	case s.Topic != "" && !subscribed:
		return engine.ByTopic, engine.OptedOut
	}
	return "", ""
}
