// Package enginetest has an independent model of runs, for tests of the packages that move runs,
// and generates random workflows.
package enginetest

import (
	"iter"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Model interprets the tree of a workflow for one contact, as the manual says it: recursively,
// and with waits that block. It knows nothing of plans and states.
type Model struct {
	Checked *language.Checked
	Schema  predicate.Schema
	Subject *predicate.Subject // nil after the contact was archived
	Now     time.Time
	// Hold is true if sends wait for a person.
	Hold bool
	// Mailed has the times of messages to the contact.
	Mailed []time.Time
	// IsHeldOut and ShareOf stand for the random choice of the engine.
	IsHeldOut func(path string, percent int) bool
	ShareOf   func(path string, shares []language.Share) int

	// Decision is that of a person about a held send. Sent is true if the message of a send has
	// an outcome. Both are reset when they are used.
	Decision engine.Phase
	Sent     bool

	// Path is that of the last step.
	Path string
	// Wake is when a wait ends at the latest, zero if no timer ends it. OnChange is true if
	// changes also end it.
	Wake     time.Time
	OnChange bool
	// Held and Sending are true while a send waits for a person, and for its outcome. Over is
	// true after the end of the run.
	Held, Sending, Over bool
	// Message is the send whose message waits for its outcome while Sending is true.
	Message *language.Send

	// Events and Effects are those of the run so far.
	Events  []engine.Event
	Effects []engine.Effect
	// Resume continues the run until it waits. Stop frees the run.
	Resume func() bool
	Stop   func()

	passes []int // of the repeats around the step
	yield  func(struct{}) bool
}

// Start prepares the run. Its first Resume takes the first steps.
func (m *Model) Start() {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		m.yield = yield
		if m.Subject == nil {
			m.leave(engine.RunExited, engine.ByArchive, "")
		} else if m.block(m.Checked.Tree().Body, "") {
			m.leave(engine.RunCompleted, "", "")
		}
		m.Over, m.Wake, m.OnChange, m.Held, m.Sending = true, time.Time{}, false, false, false
	})
	m.Resume = func() bool { _, more := next(); return more }
	m.Stop = stop
}

// Note adds an event of the current step, such as that of a message that failed.
func (m *Model) Note(e engine.Event) {
	e.Path, e.At = m.Path, m.Now
	if len(m.passes) > 0 {
		e.Iteration = m.passes[len(m.passes)-1]
	}
	m.Events = append(m.Events, e)
}

// leave ends the run. It returns false, as all steps do after which the run has ended.
func (m *Model) leave(how engine.EventType, kind engine.ExitKind, name string) bool {
	m.Note(engine.Event{Type: how, Kind: kind, Exit: name})
	return false
}

// pause waits for the next time that the run is woken. It returns false if the run has ended.
func (m *Model) pause() bool {
	if !m.yield(struct{}{}) {
		return false
	}
	m.Wake, m.OnChange = time.Time{}, false
	if m.Subject == nil {
		return m.leave(engine.RunExited, engine.ByArchive, "")
	}
	return true
}

func (m *Model) holds(condition *predicate.Tree) bool {
	return condition != nil && m.Checked.Condition(condition).Match(*m.Subject, m.Now) == predicate.True
}

// stays returns false after it has ended the run because an exit matches.
func (m *Model) stays() bool {
	for _, exit := range m.Checked.Tree().Settings.Exits {
		if m.holds(exit.When) {
			return m.leave(engine.RunExited, engine.ByName, exit.Name)
		}
	}
	return true
}

// block runs the steps of a block. It returns false if the run has ended.
func (m *Model) block(b language.Block, prefix string) bool {
	for i, step := range b.Steps {
		m.Path = prefix + strconv.Itoa(i)
		if !m.stays() || !m.step(step, m.Path) {
			return false
		}
	}
	return true
}

func (m *Model) step(step language.Step, path string) bool {
	switch s := step.(type) {
	case *language.If:
		return m.branch(s, path)
	case *language.Split:
		share := m.ShareOf(path, s.Shares)
		label := "arm" + strconv.Itoa(share+1)
		m.Note(engine.Event{Type: engine.StepEntered, Arm: label})
		return m.block(s.Shares[share].Body, path+"."+label+".")
	}
	m.Note(engine.Event{Type: engine.StepEntered})
	switch s := step.(type) {
	case *language.Send:
		return m.send(s)
	case *language.Wait:
		return m.sleep(m.Now.Add(span(s.For)))
	case *language.WaitUntil:
		return m.waitUntil(s)
	case *language.WaitFor:
		return m.waitFor(s, path)
	case *language.HoldOut:
		if m.IsHeldOut(path, s.Percent) {
			return m.leave(engine.RunExited, engine.ByHoldOut, "")
		}
	case *language.Repeat:
		return m.repeat(s, path)
	case *language.SetAttribute:
		assigned := m.Checked.Condition(s.Assignment).Root.(*predicate.Compare)
		value := assigned.Value
		if value.Type == predicate.Datetime && value.Moment.Relative {
			value.Moment = predicate.Moment{Micros: m.Now.UnixMicro() + value.Moment.Micros}
		}
		m.Subject.Attributes[assigned.Field.Name] = value
		m.Effects = append(m.Effects, &engine.Assignment{Attribute: assigned.Field.Name, Value: value})
	case *language.AddToList:
		m.Subject.Lists[m.Schema.Lists[s.Key]] = true
		m.Effects = append(m.Effects, &engine.Joining{ListID: m.Schema.Lists[s.Key]})
	case *language.Leave:
		return m.leave(engine.RunCompleted, engine.ByStep, "")
	}
	return true
}

func span(d language.Duration) time.Duration { return time.Duration(d.Micros()) * time.Microsecond }

func (m *Model) branch(s *language.If, path string) bool {
	for i, arm := range s.Arms {
		if m.holds(arm.When) {
			label := "then"
			if i > 0 {
				label = "elseif" + strconv.Itoa(i)
			}
			m.Note(engine.Event{Type: engine.StepEntered, Detail: label})
			return m.block(arm.Then, path+"."+label+".")
		}
	}
	if s.Else == nil {
		m.Note(engine.Event{Type: engine.StepEntered})
		return true
	}
	m.Note(engine.Event{Type: engine.StepEntered, Detail: "else"})
	return m.block(*s.Else, path+".else.")
}

func (m *Model) started(until time.Time) {
	m.Note(engine.Event{Type: engine.WaitStarted, Detail: "until " + until.UTC().Format(time.RFC3339)})
}

func (m *Model) sleep(until time.Time) bool {
	m.started(until)
	for m.Now.Before(until) {
		m.Wake = until
		if !m.pause() {
			return false
		}
	}
	m.Note(engine.Event{Type: engine.WaitMet})
	return true
}

func (m *Model) waitUntil(s *language.WaitUntil) bool {
	target := func() time.Time {
		if s.Attribute == "" {
			return time.UnixMicro(s.Micros)
		}
		if v, known := m.Subject.Attributes[s.Attribute]; known && v.Type == predicate.Datetime {
			return time.UnixMicro(v.Moment.Micros)
		}
		return m.Now
	}
	if !target().After(m.Now) {
		return true
	}
	m.started(target())
	for target().After(m.Now) {
		m.Wake, m.OnChange = target(), s.Attribute != ""
		if !m.pause() {
			return false
		}
	}
	m.Note(engine.Event{Type: engine.WaitMet})
	return true
}

func (m *Model) waitFor(s *language.WaitFor, path string) bool {
	until := m.Now.Add(span(s.UpTo))
	m.started(until)
	for !m.holds(s.Until) {
		if !m.Now.Before(until) {
			m.Note(engine.Event{Type: engine.WaitTimedOut})
			return m.block(s.Timeout, path+".timeout.")
		}
		m.Wake, m.OnChange = until, true
		if !m.pause() {
			return false
		}
	}
	m.Note(engine.Event{Type: engine.WaitMet})
	return true
}

func (m *Model) repeat(s *language.Repeat, path string) bool {
	for pass := 1; pass <= s.Times && !m.holds(s.Until); pass++ {
		if !m.sleep(m.Now.Add(span(s.Every))) {
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
		m.Path = path
		if !m.stays() {
			return false
		}
	}
	return true
}

func (m *Model) send(s *language.Send) bool {
	for approved := false; ; {
		if m.Hold && !approved {
			m.Note(engine.Event{Type: engine.SendHeld})
			m.Held = true
			for m.Decision == "" {
				if !m.pause() {
					return false
				}
			}
			decision := m.Decision
			m.Held, m.Decision = false, ""
			switch decision {
			case engine.Skipped:
				m.Note(engine.Event{Type: engine.SendSkipped})
				return true
			case engine.Cancelled:
				return m.leave(engine.RunExited, engine.ByCancel, "")
			}
			if approved = true; !m.stays() {
				return false
			}
		}
		if m.Wake = m.opening(); !m.Wake.After(m.Now) {
			m.Wake = time.Time{}
			break
		}
		if !m.pause() || !m.stays() {
			return false
		}
	}
	if tier, reason := m.refusal(s); tier != "" {
		m.Note(engine.Event{Type: engine.SendFiltered, Tier: tier, Reason: reason})
		return true
	}
	m.Effects = append(m.Effects, &engine.Message{Path: m.Path, Template: s.Template, Topic: s.Topic, Transactional: s.Transactional})
	for m.Sending, m.Message = true, s; !m.Sent; {
		if !m.pause() {
			return false
		}
	}
	m.Sending, m.Sent = false, false
	return true
}

// opening searches the opening of the send window minute by minute.
func (m *Model) opening() time.Time {
	window := m.Checked.Tree().Settings.Window
	if window == nil {
		return m.Now
	}
	location, err := time.LoadLocation(m.Subject.Attributes[engine.TimezoneAttribute].Text)
	if err != nil {
		location = time.UTC
	}
	at := m.Now
	for !OpensIn(location, at, window.From, window.Until) {
		at = at.Truncate(time.Minute).Add(time.Minute)
	}
	return at
}

func (m *Model) refusal(s *language.Send) (engine.Tier, engine.Reason) {
	if m.isCapped() {
		return engine.ByCap, engine.Capped
	}
	return m.Consent(s)
}

func (m *Model) isCapped() bool {
	limit := m.Checked.Tree().Settings.Cap
	if limit == nil || limit.Off {
		return false
	}
	recent := 0
	for _, at := range m.Mailed {
		if m.Now.Sub(at) <= span(limit.Per) {
			recent++
		}
	}
	return recent >= limit.Messages
}

// Consent returns why the contact must not get the message now, "" if nothing is against it.
func (m *Model) Consent(s *language.Send) (engine.Tier, engine.Reason) {
	subscribed, chosen := m.Subject.Topics[s.Topic]
	if !chosen {
		subscribed = m.Schema.Topics[s.Topic]
	}
	switch {
	case m.Subject.Suppressed:
		return engine.ByAccount, engine.Suppressed
	case s.Transactional:
		return "", ""
	case m.Subject.UnsubscribedFromAll:
		return engine.ByAccount, engine.UnsubscribedAll
	case s.Topic != "" && !subscribed:
		return engine.ByTopic, engine.OptedOut
	}
	return "", ""
}

// OpensIn reports whether a send window is open at the time. from and until are minutes of the
// day.
func OpensIn(location *time.Location, at time.Time, from, until int) bool {
	local := at.In(location)
	minute := local.Hour()*60 + local.Minute()
	if from < until {
		return from <= minute && minute < until
	}
	return minute >= from || minute < until
}
