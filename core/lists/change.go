package lists

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
