package language

import (
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// Tree is a workflow with valid syntax that is within all limits. Its names are not
// resolved; Check resolves them.
type Tree struct {
	Name     string
	Settings Settings
	Body     Block
	source   string
	start    Offset // of the first word
}

// Block is the steps between "{" and "}". End is the offset of the "}".
type Block struct {
	Steps []Step
	End   Offset
}

// Offset is a position in the source, in bytes from its beginning.
type Offset = predicate.Offset

// Settings says who enters a workflow, who leaves it early, and what holds for all steps.
type Settings struct {
	Trigger Trigger
	// Where is a condition that a contact must also meet to enter; nil if there is none. It
	// tests the contact, not the event of the trigger.
	Where *predicate.Tree
	// Exits are checked before every step, in this order; the first that matches ends the run.
	Exits []Exit
	// Window is the time of day in which the workflow sends; nil if it sends at any time.
	Window *Window
	// Reentry says whether a contact may enter again after a run has ended. ReentryAt is its
	// offset, 0 if the source has no such setting.
	Reentry   Reentry
	ReentryAt Offset
	// Cap replaces the organization's limit on messages to a contact; nil keeps that limit.
	Cap *Cap
	// Enroll says who enters at the activation; nil is the default of the trigger.
	Enroll *Enroll
}

// Trigger is what makes a contact enter a workflow.
type Trigger struct {
	Offset
	Kind TriggerKind
	// Segment is the key of the segment of an OnSegment.
	Segment string
	// Event is the event of an OnEvent. If Event.Kind is [predicate.ActivityEvent], it is an
	// activity.
	Event predicate.Event
	// Attribute is the datetime attribute of an OnDate. A contact enters at the instant that
	// is Distance after it or, if Before is set, before it.
	Attribute string
	Distance  Duration
	Before    bool
	// NameAt is the offset of the segment's key or of the attribute.
	NameAt Offset
}

// EnterAt returns the time at which an OnDate lets a contact enter who has the given date.
func (t Trigger) EnterAt(date time.Time) time.Time {
	if t.Before {
		return date.Add(-t.Distance.Span())
	}
	return date.Add(t.Distance.Span())
}

// Within returns the condition, as a predicate, that the date of an OnDate lets a contact enter
// after one time and at another or before.
func (t Trigger) Within(after, until time.Time) string {
	distance := -t.Distance.Span()
	if t.Before {
		distance = -distance
	}
	literal := func(at time.Time) string {
		return predicate.StringLiteral(at.Add(distance).UTC().Format(time.RFC3339Nano))
	}
	return "attr." + t.Attribute + " > " + literal(after) + " and attr." + t.Attribute + " <= " + literal(until)
}

// TriggerKind is the kind of a [Trigger].
type TriggerKind uint8

// The kinds of triggers.
const (
	// OnSegment lets a contact enter who comes into a segment.
	OnSegment TriggerKind = iota + 1
	// OnEvent lets a contact enter for whom an event of mail or an activity is recorded.
	OnEvent
	// OnDate lets a contact enter at a time relative to a datetime attribute.
	OnDate
)

// Exit is a named exit: a condition that ends the run of a contact.
type Exit struct {
	Offset
	Name string
	When *predicate.Tree
}

// Window is a time of day from From to Until in the timezone of the contact, both in minutes
// since midnight. From is included, Until is not. If Until is before From, the window extends
// past midnight.
type Window struct {
	Offset
	From, Until int
}

// Reentry says whether a contact may enter again.
type Reentry uint8

// The rules of re-entry. OnRematch and PerOccurrence mean the same: a contact may enter again
// when the trigger happens again and no run of the contact is active. People use the first for
// segments and the second for events.
const (
	Once Reentry = iota
	OnRematch
	PerOccurrence
)

// Cap is a limit on the number of messages to one contact from all workflows: at most
// Messages within Per. Off is no limit.
type Cap struct {
	Offset
	Off      bool
	Messages int
	Per      Duration
}

// Enroll says who enters a workflow at its activation.
type Enroll struct {
	Offset
	// Existing lets contacts enter for whom the trigger has happened before the activation.
	// Otherwise only those enter for whom it happens afterwards.
	Existing bool
	// Since is how long before the activation it may have happened; zero if there is no bound.
	Since Duration
}

// Duration is a number of minutes, hours, days, weeks or months. The zero value is no duration.
type Duration struct {
	Amount int
	Unit   predicate.Unit
}

// Micros returns the duration in microseconds.
func (d Duration) Micros() int64 {
	return predicate.Duration{Amount: float64(d.Amount), Unit: d.Unit}.Micros()
}

// Span returns the duration as a time.Duration.
func (d Duration) Span() time.Duration { return time.Duration(d.Micros()) * time.Microsecond }

// String returns the duration as it is written in workflows, such as "3 days".
func (d Duration) String() string {
	if d.Amount == 1 {
		return "1 " + d.Unit.Word()
	}
	return fmt.Sprintf("%d %ss", d.Amount, d.Unit.Word())
}

// Step is one step of a workflow: *Send, *Wait, *WaitUntil, *WaitFor, *If, *Split, *HoldOut,
// *Repeat, *SetAttribute, *AddToList or *Leave. There are no other types of steps.
type Step interface {
	// Pos returns the offset in the source at which the step begins.
	Pos() Offset
	// Type returns the node_type of the step, such as "wait_until".
	Type() string
}

// Send sends a template to the contact.
type Send struct {
	Offset
	Template   string
	TemplateAt Offset
	// Topic is the name of the topic whose subscribers get the message; "" if there is none.
	Topic   string
	TopicAt Offset
	// Transactional sends the message without regard to consent.
	Transactional bool
}

// Wait waits for a duration.
type Wait struct {
	Offset
	For Duration
}

// WaitUntil waits until the beginning of a day in UTC or, if Attribute is not "", until the
// time in a datetime attribute. It does not wait if that time is over or unknown.
type WaitUntil struct {
	Offset
	Micros      int64
	Attribute   string
	AttributeAt Offset
}

// WaitFor waits until the contact matches Until, at most for UpTo. If the time is over first,
// the steps of Timeout run, and then those after the wait.
type WaitFor struct {
	Offset
	UpTo  Duration
	Until *predicate.Tree
	// Timeout may have no steps.
	Timeout Block
}

// If runs the steps of the first arm whose condition the contact matches, or those of Else,
// which is nil if there is no such arm.
type If struct {
	Offset
	Arms []Arm
	Else *Block
}

// Arm is an arm of an [If].
type Arm struct {
	When *predicate.Tree
	Then Block
}

// Split divides contacts into shares. A contact is always in the same share.
type Split struct {
	Offset
	Shares []Share
}

// Share is an arm of a [Split]. The percentages of all shares are 100 together.
type Share struct {
	Offset
	Percent int
	Body    Block
}

// HoldOut ends the run of a share of the contacts, to compare them with the others. A contact
// is always held out or never.
type HoldOut struct {
	Offset
	Percent int
}

// Repeat runs Body up to Times times, and waits for Every before each pass. If Until is not
// nil, it is tested before each delay and before each pass, and ends the repetition.
type Repeat struct {
	Offset
	Times int
	Every Duration
	Until *predicate.Tree
	Body  Block
}

// SetAttribute sets an attribute of the contact. Assignment has a [predicate.Compare] as its
// root, with the attribute and the value.
type SetAttribute struct {
	Offset
	Assignment *predicate.Tree
}

// AddToList adds the contact to a list.
type AddToList struct {
	Offset
	Key   string
	KeyAt Offset
}

// Leave ends the run. It is written "exit".
type Leave struct{ Offset }

// Type implements [Step].
func (*Send) Type() string { return "send" }

// Type implements [Step].
func (*Wait) Type() string { return "wait" }

// Type implements [Step].
func (*WaitUntil) Type() string { return "wait_until" }

// Type implements [Step].
func (*WaitFor) Type() string { return "wait_for" }

// Type implements [Step].
func (*If) Type() string { return "if" }

// Type implements [Step].
func (*Split) Type() string { return "split" }

// Type implements [Step].
func (*HoldOut) Type() string { return "hold_out" }

// Type implements [Step].
func (*Repeat) Type() string { return "repeat" }

// Type implements [Step].
func (*SetAttribute) Type() string { return "set_attribute" }

// Type implements [Step].
func (*AddToList) Type() string { return "add_to_list" }

// Type implements [Step].
func (*Leave) Type() string { return "exit" }
