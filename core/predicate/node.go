package predicate

// Node is one node of a predicate: *And, *Or, *Not, *Compare, *In, *Match, *Known, *Age,
// *EventTest, *Consent or *Membership. There are no other types of nodes. A where-condition
// consists of the first seven only, and its fields are properties of an event. Elsewhere
// fields are attributes of the contact.
//
// In a Tree, names are as written, Field.Type is Unresolved, Membership.ID is "", and a
// quoted date and time is a String. In a Checked, all of these are resolved.
type Node interface {
	// Pos returns the offset in the source at which the node begins.
	Pos() Offset
	node()
}

// Offset is a position in the source, in bytes from its beginning. Tree.Position converts
// it to a line and column. It does not affect the result of a node.
type Offset int32

// Pos returns the offset itself. A node that embeds an Offset thereby implements
// [Node.Pos].
func (o Offset) Pos() Offset { return o }

// And has the least result of its terms, in the order False < Unknown < True. It has at
// least two terms.
type And struct {
	Offset
	Terms []Node
}

// Or has the greatest result of its terms, in the order False < Unknown < True. It has at
// least two terms.
type Or struct {
	Offset
	Terms []Node
}

// Not is True if its term is False, False if its term is True, and Unknown if its term is
// Unknown.
type Not struct {
	Offset
	Term Node
}

// Compare compares a field with a literal of the same type: attr.plan = "pro". It is
// Unknown if the field is absent. For String and Bool, only Equal and NotEqual are allowed.
// A Datetime may be compared with a time relative to now.
type Compare struct {
	Offset
	Field Field
	Op    Op
	Value Value
	// ValueAt is the offset at which the literal begins.
	ValueAt Offset
}

// In tests whether a field equals one of 1 to 100 literals of the field's type. The
// literals cannot be relative to now. The test is Unknown if the field is absent.
type In struct {
	Offset
	Field  Field
	Values []Value
	// ValuesAt are the offsets at which the literals begin.
	ValuesAt []Offset
}

// Match tests whether a String field starts with, ends with or contains Text, compared byte
// by byte. Text is not empty. The test is Unknown if the field is absent.
type Match struct {
	Offset
	Field Field
	How   MatchKind
	Text  string
}

// Known tests whether a field is present (Want is true) or absent (Want is false). It is
// never Unknown. An empty string is present.
type Known struct {
	Offset
	Field Field
	Want  bool
	// Prefix is true if the test was written "has attr.x" instead of "attr.x is known",
	// which means the same.
	Prefix bool
}

// Age compares the age of a Datetime attribute (now minus the attribute's value) with a
// duration: "now - attr.trial_ends > 14d". With Between, it tests Low <= age <= High, and
// Op is unset; otherwise it tests age Op Low. The age is negative if the value is in the
// future. The test is Unknown if the attribute is absent.
type Age struct {
	Offset
	Field     Field
	Op        Op
	Between   bool
	Low, High Duration
}

// EventTest compares a number or time that is computed from the contact's selected events.
// Kind says which:
//
//	Count          number of events, compared with Number; never Unknown
//	Exists         whether there is an event; never Unknown
//	Sum, Avg,      of the property Field, compared with Number; events without the
//	Min, Max       property are ignored; Unknown if no event has it
//	Last, First    time of the latest or earliest event, compared with Time; Unknown
//	               if there is no event
//
// Doubles are summed in no particular order. Avg is the sum divided by the number of events
// that have the property.
type EventTest struct {
	Offset
	Kind EventTestKind
	// Field is the numeric property that is aggregated. It is set only for Sum, Avg, Min and
	// Max.
	Field  Field
	Source EventSource
	Op     Op
	// Number is the operand with which Count, Sum, Avg, Min and Max are compared.
	Number float64
	// Time is the operand with which Last and First are compared.
	Time Moment
}

// EventSource selects events of one contact: those of the kind Event that are inside both
// time windows (Within and Between) and for which Where is True. An event for which Where
// is Unknown is not selected, for example because the event lacks the tested property.
type EventSource struct {
	Offset
	Event Event
	// Where is the condition on the event's properties, nil if there is none.
	Where Node
	// If HasWithin is set, only events with now - Within <= time <= now are selected.
	Within    Duration
	HasWithin bool
	// If HasBetween is set, only events with Between.From <= time < Between.Until are
	// selected.
	Between    Span
	HasBetween bool
}

// Span is the time from From, inclusive, to Until, exclusive, in microseconds since 1970.
// If the end was written as a date without a time, the span includes that whole day in UTC.
type Span struct{ From, Until int64 }

// Consent tests the contact's subscriptions or suppression. It is never Unknown. A contact
// is in or out of a topic by its own choice or, without a choice, by DefaultIn. Kind says
// what is tested:
//
//	Subscribed       in the topic, not unsubscribed from all, and not a stub
//	OptedOut         out of the topic
//	UnsubscribedAll  unsubscribed from all
//	Suppressed       the address is on a suppression list of the organization
type Consent struct {
	Offset
	Kind ConsentKind
	// Topic is the name of the topic. It is set only for Subscribed and OptedOut.
	Topic string
	// DefaultIn is true if contacts without a choice are in the topic. Check sets it from
	// the schema.
	DefaultIn bool
	// TopicAt is the offset in the predicate's text at which the topic's name begins.
	TopicAt Offset
}

// Membership is True if the contact is on the list or in the segment, else False. It is
// never Unknown.
type Membership struct {
	Offset
	Segment bool // else a list
	Key     string
	ID      string
	// KeyAt is the offset at which the key of the list or segment begins.
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

// Field is the attribute or event property that a test reads.
type Field struct {
	Offset
	Source FieldSource
	Name   string
	// Type is Unresolved in a Tree, and String, Number, Bool or Datetime in a Checked.
	Type Type
}

// FieldSource says whether a field is an attribute, the email address or an event property.
type FieldSource uint8

// The sources of fields. Email is the contact's address. It is written attr.email, and
// every contact has one. Property is a property of an event, which a where-condition or an
// aggregate reads.
const (
	Attribute FieldSource = iota
	Email
	Property
)

// Event is a kind of event. Activity is the name of the activity if Kind is ActivityEvent,
// else "".
type Event struct {
	Kind     EventKind
	Activity string
}

// EventKind is one of the kinds of message events, or the constant ActivityEvent for
// activities.
type EventKind uint8

// The kinds of events: eight kinds of message events, and activities of all names.
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

// MatchKind says where in a string a Match searches: at its start, at its end or anywhere.
type MatchKind uint8

// The kinds of matches.
const (
	StartsWith MatchKind = iota
	EndsWith
	Contains
)

// EventTestKind says what an EventTest computes from the selected events.
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

// ConsentKind is what a [Consent] node tests, such as a subscription to a topic.
type ConsentKind uint8

// The kinds of consent tests.
const (
	Subscribed ConsentKind = iota
	OptedOut
	UnsubscribedAll
	Suppressed
)
