package language

import (
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// startsSetting reports whether a setting begins at the current token. "send" and "exit"
// begin settings and steps, so the next token decides.
func (p *parser) startsSetting() bool {
	if p.tok.Kind != predicate.WordToken {
		return false
	}
	switch p.tok.Text {
	case "enter", "reentry", "frequency", "enroll":
		return true
	case "send":
		return p.peek().Is("window")
	case "exit":
		return p.peek().Kind == predicate.StringToken
	}
	return false
}

// setting parses a setting. settings is nil in a block of steps; late is true after a step.
func (p *parser) setting(settings *Settings, late bool) {
	t := p.tok
	if settings == nil || late {
		p.fail(t, predicate.Error{Message: "the setting " + t.Text + " is after a step", Expected: "settings before the first step"})
		return
	}
	if t.Text != "exit" {
		if p.seen[t.Text] {
			p.fail(t, predicate.Error{Message: "the setting " + t.Text + " occurs twice"})
			return
		}
		if p.seen == nil {
			p.seen = map[string]bool{}
		}
		p.seen[t.Text] = true
	}
	p.advance()
	switch t.Text {
	case "enter":
		p.trigger(t, settings)
	case "exit":
		p.exit(t, settings)
	case "send":
		settings.Window = p.window(t)
	case "reentry":
		settings.Reentry, settings.ReentryAt = p.reentry(), Offset(t.Start)
	case "frequency":
		settings.Cap = p.cap(t)
	case "enroll":
		settings.Enroll = p.enroll(t)
	}
}

// trigger parses the rest of: "enter" "on" ( "segment" STRING | "event" EVENT | ACTIVITY |
// NUMBER unit ("before" | "after") ATTR ) [ "where" predicate ].
func (p *parser) trigger(start predicate.Token, settings *Settings) {
	const expected = `"segment", "event", activity.<name>, or a date such as 3 days before attr.renewal`
	trigger := Trigger{Offset: Offset(start.Start), Kind: OnEvent}
	p.word("on")
	t := p.tok
	switch {
	case p.failed:
	case p.accept("segment"):
		trigger.Kind = OnSegment
		trigger.Segment, trigger.NameAt = p.text(`the "key" of a segment`)
	case p.accept("event"):
		trigger.Event = p.event()
	case t.Kind == predicate.ActivityToken:
		trigger.Event = predicate.Event{Kind: predicate.ActivityEvent, Activity: t.Text}
		p.advance()
	case t.Kind == predicate.NumberToken, compactDuration(p.source[t.Start:t.End]) != "":
		trigger.Kind = OnDate
		trigger.Distance = p.duration(0)
		trigger.Before = p.word("before", "after") == "before"
		trigger.Attribute, trigger.NameAt = p.attribute()
	default:
		p.failExpecting(expected, "segment", "event")
	}
	settings.Trigger = trigger
	if p.accept("where") {
		settings.Where = p.predicate()
	}
}

// event parses the name of an event of mail.
func (p *parser) event() predicate.Event {
	t := p.tok
	event, known := predicate.MessageEvent(t.Text)
	switch {
	case p.failed:
	case t.Kind == predicate.ActivityToken:
		p.fail(t, predicate.Error{Message: "an activity is written without event", Suggestion: "enter on " + p.source[t.Start:t.End]})
	case t.Kind != predicate.WordToken || !known:
		p.failExpecting("an event of mail: "+strings.Join(predicate.MessageEvents(), ", "), predicate.MessageEvents()...)
	}
	p.advance()
	return event
}

// exit parses the rest of: "exit" STRING "when" predicate.
func (p *parser) exit(start predicate.Token, settings *Settings) {
	if len(settings.Exits) == MaxExits {
		p.limit(LimitExits, start)
		return
	}
	exit := Exit{Offset: Offset(start.Start)}
	named := p.tok
	exit.Name = p.name(`the "name" of the exit`)
	for _, other := range settings.Exits {
		if other.Name == exit.Name {
			p.fail(named, predicate.Error{Message: "two exits have this name"})
		}
	}
	p.word("when")
	exit.When = p.predicate()
	settings.Exits = append(settings.Exits, exit)
}

// window parses the rest of: "send" "window" TIME "-" TIME "in" "contact" "timezone".
func (p *parser) window(start predicate.Token) *Window {
	w := &Window{Offset: Offset(start.Start)}
	p.word("window")
	w.From = p.timeOfDay()
	p.sign("-")
	end := p.tok
	w.Until = p.timeOfDay()
	if !p.failed && w.From == w.Until {
		p.fail(end, predicate.Error{Message: "the window ends when it begins", Expected: "two different times, such as 9am-6pm"})
	}
	p.word("in")
	p.word("contact")
	p.word("timezone")
	return w
}

func (p *parser) reentry() Reentry {
	switch p.word("once", "on", "per") {
	case "on":
		p.word("rematch")
		return OnRematch
	case "per":
		p.word("occurrence")
		return PerOccurrence
	}
	return Once
}

// cap parses the rest of: "frequency" "cap" ( "off" | NUMBER "per" duration ). The duration
// may be a unit alone: per week.
func (p *parser) cap(start predicate.Token) *Cap {
	c := &Cap{Offset: Offset(start.Start)}
	p.word("cap")
	if p.accept("off") {
		c.Off = true
		return c
	}
	if !p.failed && p.tok.Kind == predicate.WordToken {
		p.failExpecting(`"off", or a number of messages such as 3 per week`, "off")
	}
	c.Messages = p.integer("the number of messages", 1, 1000)
	p.word("per")
	if unit := units[p.tok.Text]; !p.failed && unit != 0 {
		p.advance()
		c.Per = Duration{1, unit}
		return c
	}
	c.Per = p.duration(1)
	return c
}

// enroll parses the rest of: "enroll" ( "forward" | "existing" [ "since" duration ] ).
func (p *parser) enroll(start predicate.Token) *Enroll {
	e := &Enroll{Offset: Offset(start.Start)}
	if e.Existing = p.word("forward", "existing") == "existing"; e.Existing && p.accept("since") {
		e.Since = p.duration(1)
	}
	return e
}
