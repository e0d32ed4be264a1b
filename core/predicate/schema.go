package predicate

// Schema has the names of an organization that predicates may use. A nil map is treated as
// empty.
type Schema struct {
	// Attributes has the registered attributes by name. attr.email always means the built-in
	// email address, even if an attribute "email" is registered.
	Attributes map[string]AttributeType
	// Properties has the types of the activity properties that are registered for
	// predicates. The six built-in properties of site activities need no entry, and an entry
	// does not change their type.
	Properties map[ActivityProperty]Type
	// Topics maps the names of topics to their default: true (OPT_IN) if a contact without a
	// choice is in the topic.
	Topics map[string]bool
	// Lists and Segments map the keys of lists and segments to their ids. They do not
	// contain archived ones.
	Lists, Segments map[string]string
	// Activities has the names of recorded activities, for suggestions and warnings.
	// Predicates may use other names. If it is empty, there are no such suggestions and
	// warnings.
	Activities []string
}

// AttributeType is the registered type of an attribute.
type AttributeType struct {
	Type Type
	// EnumValues has the values of an Enum. A predicate may compare the attribute with other
	// values, which gives a warning.
	EnumValues []string
}

// ActivityProperty is a property of all activities that have the name in Activity.
type ActivityProperty struct{ Activity, Property string }
