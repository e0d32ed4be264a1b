package predicate

// Schema is what an organization has that predicates may name. A nil map is empty.
type Schema struct {
	// Attributes are the registered attributes by name. "email" is built in and
	// hides a registration of that name.
	Attributes map[string]AttributeType
	// Properties are the promoted properties of activities. The six built-in
	// properties of site activities need no entry, and an entry does not change them.
	Properties map[ActivityProperty]Type
	// Topics say by name whether a contact without a choice is in (OPT_IN).
	Topics map[string]bool
	// Lists and Segments are ids by key; archived ones are left out.
	Lists, Segments map[string]string
	// Activities are names that have been seen. Others may be named as well; these
	// are for suggestions and lint. Empty turns both off.
	Activities []string
}

// AttributeType is how an attribute is registered.
type AttributeType struct {
	Type Type
	// EnumValues are the values of an Enum. A predicate may name others.
	EnumValues []string
}

// ActivityProperty is one property of the activities of one name.
type ActivityProperty struct{ Activity, Property string }
