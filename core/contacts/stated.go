package contacts

import (
	"github.com/mailhelm/mailhelm/core"
)

// Stated has the members of a contact that every write accepts alike: single writes,
// rows of bulk writes and imports. A new field of the contact is a member here and a
// line in each function of this file.
type Stated struct {
	UnsubscribeAll *bool `json:"unsubscribe_all,omitempty" jsonschema:"nullable" jsonschema_description:"true sets the global opt-out, false removes it."`
}

// StatedMembers describes the members to callers of bulk writes.
var StatedMembers = []core.RowMember{
	{Name: "unsubscribe_all", Description: "true sets the global opt-out, false removes it; absent or null: unchanged."},
}

// Take parses a member of a row. It reports whether Stated has the member.
func (s *Stated) Take(name string, value []byte) (bool, error) {
	switch name {
	case "unsubscribe_all":
		return true, core.TakeAs(name, value, &s.UnsubscribeAll, "true, false or null")
	}
	return false, nil
}

// apply returns the contact with the stated members. It leaves out consent, which the
// account decides.
func (s Stated) apply(c Contact) Contact { return c }
