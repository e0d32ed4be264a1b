package language

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// String returns the workflow in its canonical spelling: one statement on each line, two
// spaces for each level, no comments, and an empty line between settings and steps. Parsing
// the result gives a tree that differs only in its offsets. [Format] keeps comments.
func (t *Tree) String() string {
	p := &printer{}
	p.tree(t)
	return p.String()
}

// printer writes the canonical spelling. If layout is set, it adds the comments and empty
// lines of the source.
type printer struct {
	bytes.Buffer
	// level is the number of blocks around the next line.
	level  int
	layout *layout
}

func (p *printer) tree(t *Tree) {
	p.line("workflow ", predicate.StringLiteral(t.Name), " v1 {")
	p.level++
	p.settings(t.Settings)
	if len(t.Body.Steps) > 0 {
		p.separate(t.Body.Steps[0].Pos())
	}
	p.steps(t.Body.Steps)
	p.before(t.Body.End)
	p.level--
	p.line("}")
}

// line writes one line with its indentation.
func (p *printer) line(parts ...string) {
	p.WriteString(strings.Repeat("  ", p.level))
	for _, part := range parts {
		p.WriteString(part)
	}
	p.WriteByte('\n')
}

// settings prints the settings in the order of the source.
func (p *printer) settings(s Settings) {
	type setting struct {
		at   Offset
		text string
	}
	where := ""
	if s.Where != nil {
		where = " where " + s.Where.String()
	}
	list := []setting{{s.Trigger.Offset, "enter on " + s.Trigger.String() + where}}
	for _, exit := range s.Exits {
		list = append(list, setting{exit.Offset, "exit " + predicate.StringLiteral(exit.Name) + " when " + exit.When.String()})
	}
	if s.Window != nil {
		list = append(list, setting{s.Window.Offset, "send window " + s.Window.String() + " in contact timezone"})
	}
	if s.Reentry != Once || s.ReentryAt > 0 {
		list = append(list, setting{s.ReentryAt, "reentry " + s.Reentry.String()})
	}
	if s.Cap != nil {
		list = append(list, setting{s.Cap.Offset, "frequency cap " + s.Cap.String()})
	}
	if s.Enroll != nil {
		list = append(list, setting{s.Enroll.Offset, "enroll " + s.Enroll.String()})
	}
	slices.SortStableFunc(list, func(a, b setting) int { return cmp.Compare(a.at, b.at) })
	for _, one := range list {
		p.before(one.at)
		p.line(one.text)
	}
}

// steps prints steps, each on lines of its own.
func (p *printer) steps(steps []Step) {
	for _, step := range steps {
		p.before(step.Pos())
		p.step(step)
	}
}

func (p *printer) step(step Step) {
	switch s := step.(type) {
	case *Send:
		p.line("send ", predicate.StringLiteral(s.Template), s.options())
	case *Wait:
		p.line("wait ", s.For.String())
	case *WaitUntil:
		p.line("wait until ", s.time())
	case *WaitFor:
		p.waitFor(s)
	case *If:
		p.branch(s)
	case *Split:
		p.split(s)
	case *HoldOut:
		p.line("hold out ", itoa(s.Percent), "%")
	case *Repeat:
		p.repeat(s)
	case *SetAttribute:
		p.line("set ", s.Assignment.String())
	case *AddToList:
		p.line("add to list ", predicate.StringLiteral(s.Key))
	case *Leave:
		p.line("exit")
	}
}

// block prints the steps of an arm, without the line after it.
func (p *printer) block(b Block) {
	p.level++
	p.steps(b.Steps)
	p.before(b.End)
	p.level--
}

func (p *printer) waitFor(s *WaitFor) {
	head := "wait up to " + s.UpTo.String() + " until " + s.Until.String()
	if len(s.Timeout.Steps) == 0 {
		p.line(head)
		return
	}
	p.line(head, " {")
	p.level++
	p.line("timeout:")
	p.block(s.Timeout)
	p.level--
	p.line("}")
}

func (p *printer) branch(s *If) {
	head := "if "
	for _, arm := range s.Arms {
		p.line(head, arm.When.String(), " {")
		p.block(arm.Then)
		head = "} else if "
	}
	if s.Else != nil {
		p.line("} else {")
		p.block(*s.Else)
	}
	p.line("}")
}

func (p *printer) split(s *Split) {
	p.line("split {")
	p.level++
	for _, share := range s.Shares {
		p.before(share.Offset)
		p.line(itoa(share.Percent), "%: {")
		p.block(share.Body)
		p.line("}")
	}
	p.level--
	p.line("}")
}

func (p *printer) repeat(s *Repeat) {
	head := "repeat up to " + itoa(s.Times) + " every " + s.Every.String()
	if s.Until != nil {
		head += " until " + s.Until.String()
	}
	p.line(head, " {")
	p.block(s.Body)
	p.line("}")
}

// String returns the trigger as it is written after "enter on".
func (t Trigger) String() string {
	switch {
	case t.Kind == OnSegment:
		return "segment " + predicate.StringLiteral(t.Segment)
	case t.Kind == OnDate && t.Before:
		return t.Distance.String() + " before attr." + t.Attribute
	case t.Kind == OnDate:
		return t.Distance.String() + " after attr." + t.Attribute
	case t.Event.Kind == predicate.ActivityEvent:
		return t.Event.String()
	}
	return "event " + t.Event.String()
}

// String returns the window as it is written in workflows, such as "9am-5:30pm".
func (w Window) String() string { return timeWords(w.From) + "-" + timeWords(w.Until) }

// String returns the rule as it is written after "reentry".
func (r Reentry) String() string {
	return [...]string{Once: "once", OnRematch: "on rematch", PerOccurrence: "per occurrence"}[r]
}

// String returns the limit as it is written after "frequency cap".
func (c Cap) String() string {
	if c.Off {
		return "off"
	}
	return itoa(c.Messages) + " per " + c.Per.String()
}

// String returns the setting as it is written after "enroll".
func (e Enroll) String() string {
	switch {
	case !e.Existing:
		return "forward"
	case e.Since == Duration{}:
		return "existing"
	}
	return "existing since " + e.Since.String()
}

// options returns the modifiers of a send, each after a space.
func (s *Send) options() string {
	switch {
	case s.Topic != "":
		return " via topic " + predicate.StringLiteral(s.Topic)
	case s.Transactional:
		return " transactional"
	}
	return ""
}

// time returns the date or attribute as it is written after "wait until".
func (s *WaitUntil) time() string {
	if s.Attribute != "" {
		return "attr." + s.Attribute
	}
	return s.Day()
}

// Day returns the date of a wait without an attribute, such as "2026-12-24".
func (s *WaitUntil) Day() string { return time.UnixMicro(s.Micros).UTC().Format(time.DateOnly) }
