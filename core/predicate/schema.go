package predicate

// Schema has the names of an organization that predicates may use. A nil map is empty.
type Schema struct {
	// Attributes has the registered attributes by name. "email" is built in and hides a
	// registration of that name.
	Attributes map[string]AttributeType
	// Properties has the promoted properties of activities. The six built-in properties
	// of site activities need no entry, and an entry does not change them.
	Properties map[ActivityProperty]Type
	// Topics maps names to their default: true if a contact without a choice is in
	// (OPT_IN).
	Topics map[string]bool
	// Lists and Segments map keys to ids, without archived ones.
	Lists, Segments map[string]string
	// Activities has names that have been seen, for suggestions and lint; predicates may
	// use others. If empty, both are off.
	Activities []string
}

// AttributeType is the registration of an attribute.
type AttributeType struct {
	Type Type
	// EnumValues has the values of an Enum. A predicate may use others.
	EnumValues []string
}

// ActivityProperty is one property of the activities of one name.
type ActivityProperty struct{ Activity, Property string }
