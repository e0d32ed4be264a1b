package definitions

import "strings"

// Kind is a kind of definition.
type Kind string

// The kinds of definitions.
const (
	KindAttribute        Kind = "attribute"
	KindActivityProperty Kind = "activity_property"
	KindList             Kind = "list"
	KindSegment          Kind = "segment"
	KindTopic            Kind = "topic"
	KindImage            Kind = "image"
	KindTemplate         Kind = "template"
	KindWorkflow         Kind = "workflow"
)

// Kinds returns all kinds in the order in which they are applied: a definition names only
// definitions of earlier kinds, except segments and lists, which may be named by their own kind.
func Kinds() []Kind {
	return []Kind{KindAttribute, KindActivityProperty, KindList, KindSegment, KindTopic, KindImage, KindTemplate, KindWorkflow}
}

// Section is the name of a part of the manifest, which has the definitions of one kind.
type Section string

// Section returns the section with the definitions of the kind.
func (k Kind) Section() Section {
	switch k {
	case KindActivityProperty:
		return "activity_properties"
	default:
		return Section(k) + "s"
	}
}

// Noun returns the name of the kind in sentences, such as "activity property".
func (k Kind) Noun() string { return strings.ReplaceAll(string(k), "_", " ") }
