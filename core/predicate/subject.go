package predicate

// Subject is one contact as Match sees it. Checked.References says which parts a
// predicate looks at; others may be left empty.
type Subject struct {
	Email string
	// Attributes by name. A value of another type than the registered one is
	// absent; an enum's value is a String.
	Attributes map[string]Value
	// Topics are the explicit choices: true is in, false is out, none is absent.
	Topics              map[string]bool
	UnsubscribedFromAll bool
	// Stub is whether only activities have named the contact, which is subscribed to
	// nothing then.
	Stub bool
	// Suppressed is whether the address is on a suppression list.
	Suppressed bool
	// Lists and Segments are the ids of those that the contact is on or in now.
	Lists, Segments map[string]bool
	// Events in any order.
	Events []Occurrence
}

// Occurrence is one event of one contact.
type Occurrence struct {
	Event Event
	// At is in microseconds since 1970.
	At int64
	// Properties by name, those of a message event under their built-in names. A
	// value of another type than the registered one is absent.
	Properties map[string]Value
}
