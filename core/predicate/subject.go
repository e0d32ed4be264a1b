package predicate

// Subject is one contact as Match reads it. Parts that Checked.References does not name
// may be left empty.
type Subject struct {
	Email string
	// Attributes has values by name. A value of another type than the registered one
	// counts as absent; an enum's value is a String.
	Attributes map[string]Value
	// Topics has the explicit choices: true is in, false is out; no entry means no
	// choice.
	Topics              map[string]bool
	UnsubscribedFromAll bool
	// Stub is true if only activities have named the contact; it is then subscribed to
	// nothing.
	Stub bool
	// Suppressed is true if the address is on a suppression list.
	Suppressed bool
	// Lists and Segments have the ids of those that the contact is on or in.
	Lists, Segments map[string]bool
	// Events has the events, in any order.
	Events []Occurrence
}

// Occurrence is one event of one contact.
type Occurrence struct {
	Event Event
	// At is the time, in microseconds since 1970.
	At int64
	// Properties has values by name, those of a message event under their built-in
	// names. A value of another type than the registered one counts as absent.
	Properties map[string]Value
}
