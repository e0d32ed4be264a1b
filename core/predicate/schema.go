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
	// Archived has the archived topics, lists and segments. Predicates cannot name them; the
	// fault for such a name says why.
	Archived map[Archived]bool
	// Activities has the names of recorded activities, for suggestions and warnings.
	// Predicates may use other names. If it is empty, there are no such suggestions and
	// warnings.
	Activities []string
}

// SetKind says what a predicate names: a topic, a list or a segment.
type SetKind string

// The kinds of sets of contacts that predicates name.
const (
	TopicSet   SetKind = "topic"
	ListSet    SetKind = "list"
	SegmentSet SetKind = "segment"
)

// Archived is an archived topic, list or segment. Key is the name of a topic, or the key of a
// list or segment.
type Archived struct {
	Kind SetKind
	Key  string
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
