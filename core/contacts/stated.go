package contacts

import (
	"github.com/mailhelm/mailhelm/core"
)

// Stated has the members that every write of a contact accepts in the same form: single
// writes, rows of bulk writes and imports. A new member needs a line in each function of
// this file.
type Stated struct {
	UnsubscribeAll *bool `json:"unsubscribe_all,omitempty" jsonschema:"nullable" jsonschema_description:"true sets the opt-out from all mail, false removes it. Absent or null: unchanged."`
}

// StatedMembers describes the members of [Stated] to callers of bulk writes.
var StatedMembers = []core.RowMember{
	{Name: "unsubscribe_all", Description: "true sets the global opt-out, false removes it; absent or null: unchanged."},
}

// Take parses a member of a row into s. It returns false if Stated has no member with this
// name, and fails if the value has the wrong type.
func (s *Stated) Take(name string, value []byte) (bool, error) {
	switch name {
	case "unsubscribe_all":
		return true, core.TakeAs(name, value, &s.UnsubscribeAll, "true, false or null")
	}
	return false, nil
}

// replace returns the contact with the stated members and without those that are absent. A
// write of the whole contact uses it. Consent is left to the sending account, as in apply.
func (s Stated) replace(c Contact) Contact { return s.apply(c) }

// apply returns the contact with the stated members, except for consent, about which the
// sending account decides. At present every stated member is consent.
func (s Stated) apply(c Contact) Contact { return c }
