package engine

import "github.com/mailhelm/mailhelm/core/predicate"

// Effect is what has to be done for a run, in the transaction that stores its state: *Message,
// *Assignment or *Joining. There are no other types of effects.
type Effect interface{ effect() }

// Message is a message to send to the contact.
type Message struct {
	// Path is the step that sends it.
	Path     string
	Template string
	// Topic is "" for none. Transactional messages are sent without regard to consent.
	Topic         string
	Transactional bool
}

// Assignment sets an attribute of the contact. The value is of the attribute's type and not
// relative to now.
type Assignment struct {
	Attribute string
	Value     predicate.Value
}

// Joining adds the contact to a list.
type Joining struct{ ListID string }

func (*Message) effect()    {}
func (*Assignment) effect() {}
func (*Joining) effect()    {}
