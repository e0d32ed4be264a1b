package names

import (
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// Names are the names of an organization, in the order of the API.
type Names struct {
	Attributes []Attribute
	Topics     []Topic
	Lists      []Set
	Segments   []Set
	Templates  []Template
	// Activities has the names of activities with promoted properties and of the newest
	// activities. Others may exist.
	Activities []string
	properties []property
}

// Attribute is a registered attribute.
type Attribute struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	EnumValues  []string `json:"enum_values"`
	Description string   `json:"description"`
}

// Topic is a topic of the sending account. Default is OPT_IN or OPT_OUT.
type Topic struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Description string `json:"description"`
	Default     string `json:"default_subscription_status"`
}

// Set is a list or a segment.
type Set struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Members     int    `json:"member_count"`
	Status      string `json:"status"`
	// Source is the predicate of a segment.
	Source string `json:"source"`
}

// Template is a template that can be sent.
type Template struct {
	Slug    string `json:"slug"`
	Name    string `json:"name"`
	Subject string `json:"subject"`
}

// property is a promoted property of activities.
type property struct {
	Activity string `json:"activity_name"`
	Property string `json:"property"`
	Type     string `json:"type"`
}

// archived is the status of lists and segments that cannot be named.
const archived = "archived"

// types has the types of attributes and properties by their names.
var types = map[string]predicate.Type{
	"string": predicate.String, "number": predicate.Number, "bool": predicate.Bool, "datetime": predicate.Datetime, "enum": predicate.Enum,
}

// Schema returns the names in the form that checks need.
func (n Names) Schema() language.Schema {
	s := language.Schema{
		Schema: predicate.Schema{
			Attributes: map[string]predicate.AttributeType{}, Properties: map[predicate.ActivityProperty]predicate.Type{},
			Topics: map[string]bool{}, Lists: map[string]string{}, Segments: map[string]string{}, Archived: map[predicate.Archived]bool{},
		},
		Templates: map[string]bool{},
	}
	for _, a := range n.Attributes {
		s.Attributes[a.Name] = predicate.AttributeType{Type: types[a.Type], EnumValues: a.EnumValues}
	}
	for _, p := range n.properties {
		s.Properties[predicate.ActivityProperty{Activity: p.Activity, Property: p.Property}] = types[p.Type]
	}
	for _, t := range n.Topics {
		s.Topics[t.Name] = t.Default == "OPT_IN"
	}
	addSets(s.Lists, s.Archived, predicate.ListSet, n.Lists)
	addSets(s.Segments, s.Archived, predicate.SegmentSet, n.Segments)
	for _, t := range n.Templates {
		s.Templates[t.Slug] = true
	}
	return s
}

func addSets(keys map[string]string, gone map[predicate.Archived]bool, kind predicate.SetKind, sets []Set) {
	for _, set := range sets {
		if set.Status == archived {
			gone[predicate.Archived{Kind: kind, Key: set.Key}] = true
		} else {
			keys[set.Key] = set.Key
		}
	}
}
