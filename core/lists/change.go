package lists

import "slices"

// Directive is a caller's change of the static lists that a contact is on: lists to add and
// to remove, or all lists afterwards. Lists are named by id or key.
type Directive struct {
	Add    []string  `json:"add,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to add the contact to."`
	Remove []string  `json:"remove,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Lists to remove the contact from."`
	Set    *[]string `json:"set,omitempty" jsonschema:"maxItems=200" jsonschema_description:"Exactly these lists; empty removes the contact from all. Not together with add or remove."`
}

// Change is a change of the static lists that a contact is on, with the ids of the lists. A
// nil *Change leaves the contact's lists as they are.
type Change struct {
	// Exactly is true if the contact is afterwards on the lists of Join and on no others.
	Exactly     bool
	Join, Leave []string
}

// Apply returns the ids of the lists that the contact is on after the change. current has
// the ids before the change and is not modified. The result may contain an id twice.
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
