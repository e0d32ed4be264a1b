package lists

import "slices"

// Directive changes which static lists a contact is on: by adding and removing, or by
// setting the whole membership. Lists are named by id or key.
type Directive struct {
	Add    []string  `json:"add,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to add the contact to."`
	Remove []string  `json:"remove,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to remove the contact from."`
	Set    *[]string `json:"set,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Exactly these lists; empty removes the contact from all. Not together with add or remove."`
}

// Change changes which static lists a contact is on, by their ids. A nil Change leaves
// them as they are.
type Change struct {
	// Exactly is true if the contact is on the lists of Join afterwards and on no others.
	Exactly     bool
	Join, Leave []string
}

// Apply returns the lists to be on, given those that the contact is on. It does not
// change current.
func (c *Change) Apply(current []string) []string {
	switch {
	case c == nil:
		return current
	case c.Exactly:
		return c.Join
	}
	kept := slices.DeleteFunc(slices.Clone(current), func(id string) bool { return slices.Contains(c.Leave, id) })
	return append(kept, c.Join...)
}
