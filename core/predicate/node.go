package predicate

// Node is one node of a predicate: *And, *Or, *Not, *Compare, *In, *Match, *Known, *Age,
// *EventTest, *Consent or *Membership, and no other. A where-condition consists of the
// first seven only, over fields of one event. Elsewhere fields are the contact's.
//
// In a Tree, names are as written, Field.Type is Unresolved, Membership.ID is empty, and
// a quoted date and time is a String. In a Checked everything is resolved.
type Node interface {
	// Pos returns where the node begins in the source.
	Pos() Offset
	node()
}

// Offset is a position in the source, in bytes from its beginning. Tree.Position returns
// its line and column. It does not affect what a node means.
type Offset int32

// Pos returns the offset itself; nodes embed it.
func (o Offset) Pos() Offset { return o }

// And is the least of its terms. It has at least two.
type And struct {
	Offset
	Terms []Node
}

// Or is the greatest of its terms. It has at least two.
type Or struct {
	Offset
	Terms []Node
}

// Not is True if its term is False, False if it is True, else Unknown.
type Not struct {
	Offset
	Term Node
}

// Compare tests a field against a literal of its type: "attr.plan = "pro"".
// Unknown when the field is absent. String and Bool know Equal and NotEqual alone.
// A Datetime may be compared with a relative moment.
type Compare struct {
	Offset
	Field Field
	Op    Op
	Value Value
	// ValueAt is where the literal begins.
	ValueAt Offset
}

// In tests whether a field equals one of 1 to 100 literals of its type, none of
// them relative. Unknown when the field is absent.
type In struct {
	Offset
	Field  Field
	Values []Value
	// ValuesAt are where the literals begin.
	ValuesAt []Offset
}

// Match looks for a text, which is not empty, in a String field, byte by byte.
// Unknown when the field is absent.
type Match struct {
	Offset
	Field Field
	How   MatchKind
	Text  string
}

// Known is True when the field's presence is as Want says, else False; it is never
// Unknown. An empty string is present.
type Known struct {
	Offset
	Field Field
	Want  bool
	// Prefix is true if it was written "has attr.x". It does not change the meaning.
	Prefix bool
}

// Age compares the time from a Datetime attribute to now with a duration:
// "now - attr.trial_ends > 14d". With Between, Low <= age <= High and Op is unset;
// else age Op Low. The age is negative when the attribute lies ahead. Unknown when
// the attribute is absent.
type Age struct {
	Offset
	Field     Field
	Op        Op
	Between   bool
	Low, High Duration
}

// EventTest tests what happened to or was done by the contact, by its Kind:
//
//	Count          how many events there are, Op Number; 0 for none, never Unknown
//	Exists         whether there is any; never Unknown
//	Sum, Avg,      Field over the events that have it, Op Number; Unknown when none has
//	Min, Max       it. Sums add doubles in no particular order; Avg is sum by count
//	Last, First    when the latest or earliest was, Op Time; Unknown when there is none
type EventTest struct {
	Offset
	Kind EventTestKind
	// Field is a Number. It is set only for Sum, Avg, Min and Max.
	Field  Field
	Source EventSource
	Op     Op
	// Number is what Count, Sum, Avg, Min and Max are compared with.
	Number float64
	// Time is what Last and First are compared with.
	Time Moment
}

// EventSource selects events of one contact: those of the Event for which Where is
// True, inside both windows. Unknown is not enough: an event without the property
// that Where tests is not selected.
type EventSource struct {
	Offset
	Event Event
	// Where is the condition, nil for none.
	Where Node
	// Within, when HasWithin, selects now - Within <= time <= now.
	Within    Duration
	HasWithin bool
	// Between, when HasBetween, selects From <= time < Until.
	Between    Span
	HasBetween bool
}

// Span is the time from From, inclusive, to Until, exclusive, in microseconds since
// 1970. A span whose end was written as a DATE includes that day in UTC.
type Span struct{ From, Until int64 }

// Consent tests what the contact agreed to. It is never Unknown. The effective
// choice about a topic is the explicit one, else DefaultIn. By its Kind:
//
//	Subscribed       not unsubscribed from all and the effective choice is to be in
//	OptedOut         the effective choice is to be out, whatever else
//	UnsubscribedAll  unsubscribed from all
//	Suppressed       the address is on a suppression list of the organization
type Consent struct {
	Offset
	Kind ConsentKind
	// Topic is set for Subscribed and OptedOut.
	Topic string
	// DefaultIn is the topic's default by the schema.
	DefaultIn bool
	// TopicAt is where the topic's name begins.
	TopicAt Offset
}

// Membership is True when the contact is on the list or in the segment, else
// False; it is never Unknown.
type Membership struct {
	Offset
	Segment bool // else a list
	Key     string
	ID      string
	// KeyAt is where the key begins.
	KeyAt Offset
}

func (*And) node()        {}
func (*Or) node()         {}
func (*Not) node()        {}
func (*Compare) node()    {}
func (*In) node()         {}
func (*Match) node()      {}
func (*Known) node()      {}
func (*Age) node()        {}
func (*EventTest) node()  {}
func (*Consent) node()    {}
func (*Membership) node() {}

// Field is the field that a test reads.
type Field struct {
	Offset
	Source FieldSource
	Name   string
	// Type is String, Number, Bool or Datetime once checked.
	Type Type
}

// FieldSource says where a field's value comes from.
type FieldSource uint8

// The sources. Email is the contact's address, written attr.email; it is always
// present. Property is a property of the event that a where-condition or an
// aggregate is about.
const (
	Attribute FieldSource = iota
	Email
	Property
)

// Event is a kind of event; Activity is its name when Kind is ActivityEvent.
type Event struct {
	Kind     EventKind
	Activity string
}

// EventKind is the kind of an event.
type EventKind uint8

// The kinds of events: eight kinds of message events, and activities.
const (
	Send EventKind = iota
	Delivery
	Open
	Click
	Bounce
	Complaint
	Reject
	DeliveryDelay
	ActivityEvent
)

// Op is a comparison operator.
type Op uint8

// The comparisons.
const (
	Equal Op = iota + 1
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

// MatchKind is the position at which Match looks for a text.
type MatchKind uint8

// The kinds of matches.
const (
	StartsWith MatchKind = iota
	EndsWith
	Contains
)

// EventTestKind is the question of an EventTest.
type EventTestKind uint8

// The kinds of event tests.
const (
	Count EventTestKind = iota
	Exists
	Sum
	Avg
	Min
	Max
	Last
	First
)

// ConsentKind is the question of a Consent.
type ConsentKind uint8

// The kinds of consent tests.
const (
	Subscribed ConsentKind = iota
	OptedOut
	UnsubscribedAll
	Suppressed
)
