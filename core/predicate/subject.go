package predicate

// Subject is the data of one contact that Match reads. Parts that Checked.References does
// not name may be left empty.
type Subject struct {
	Email string
	// Attributes has the contact's values by name. A value counts as absent if its type is
	// not the registered one. The value of an enum is a String.
	Attributes map[string]Value
	// Topics has the contact's choices by topic: true is an opt-in, false is an opt-out. A
	// topic that is not in the map is one about which the contact made no choice.
	Topics              map[string]bool
	UnsubscribedFromAll bool
	// Stub is true if the contact is known only from activities. It is then subscribed to no
	// topic.
	Stub bool
	// Suppressed is true if the address is on a suppression list of the organization.
	Suppressed bool
	// Lists and Segments have the ids of the lists and segments that contain the contact.
	Lists, Segments map[string]bool
	// Events has the contact's events, in any order.
	Events []Occurrence
}

// Occurrence is one event of one contact.
type Occurrence struct {
	Event Event
	// At is the time of the event in microseconds since 1970.
	At int64
	// Properties has the values of the event's properties by name. The names for message
	// events are those in predicates, such as sub_type. A value counts as absent if its
	// type is not the registered one.
	Properties map[string]Value
}
