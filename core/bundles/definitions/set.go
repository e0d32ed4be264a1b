package definitions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Set has definitions of all kinds. Two sets that [Set.Sort] has sorted have equal definitions if
// and only if they are deeply equal.
type Set struct {
	Attributes         []Attribute
	ActivityProperties []ActivityProperty
	Lists              []List
	Segments           []Segment
	Topics             []Topic
	Images             []Image
	Templates          []Template
	Workflows          []Workflow
	// Declared has the kinds about which the set says something. A kind that is declared and
	// has no definition is empty on purpose.
	Declared map[Kind]bool
}

// Attribute is an attribute of contacts.
type Attribute struct {
	Name, Type, Description string
	EnumValues              []string
}

// ActivityProperty is a promoted property of the activities with one name.
type ActivityProperty struct {
	Activity, Property, Type, Description string
}

// List is a static list, without its members.
type List struct {
	Key, Name, Description string
}

// Segment is a segment with the text of its predicate.
type Segment struct {
	Key, Name, Description, Predicate string
}

// Topic is a topic to which contacts subscribe. Default is OPT_IN or OPT_OUT.
type Topic struct {
	Name, DisplayName, Description, Default string
}

// Image is an image at a path, which templates name. Hash is the hash of an image whose content was not
// read, "" otherwise.
type Image struct {
	Path    string
	Content []byte
	Hash    string
}

// hash returns the hash of the content: SHA-256 in lower-case hexadecimal.
func (i Image) hash() string {
	if i.Hash != "" {
		return i.Hash
	}
	sum := sha256.Sum256(i.Content)
	return hex.EncodeToString(sum[:])
}

// Template is a template. TestData has sets of sample values by name, each a JSON object.
type Template struct {
	Key, Subject, HTML, Text, Topic string
	Tags                            []string
	TestData                        map[string]json.RawMessage
}

// Workflow is the source of a workflow.
type Workflow struct {
	Key, Source string
}

// Ref names a definition.
type Ref struct {
	Kind Kind
	Key  string
}

// Key returns the key of the property among all definitions of its kind: the name of the activity, a
// dot and the property. A dot in the name of the activity has a backslash before it.
func (p ActivityProperty) Key() string {
	return strings.NewReplacer(`\`, `\\`, ".", `\.`).Replace(p.Activity) + "." + p.Property
}

// PropertyOf returns the activity and the property of which [ActivityProperty.Key] returns the key.
func PropertyOf(key string) ActivityProperty {
	var p ActivityProperty
	var activity strings.Builder
	for i := 0; i < len(key); i++ {
		switch {
		case key[i] == '.':
			p.Activity, p.Property = activity.String(), key[i+1:]
			return p
		case key[i] == '\\' && i+1 < len(key):
			i++
		}
		activity.WriteByte(key[i])
	}
	return p
}

// Sort sorts the definitions of each kind by their keys, and the tags of templates.
func (s *Set) Sort() {
	slices.SortFunc(s.Attributes, func(a, b Attribute) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.ActivityProperties, func(a, b ActivityProperty) int {
		return cmp.Or(cmp.Compare(a.Activity, b.Activity), cmp.Compare(a.Property, b.Property))
	})
	slices.SortFunc(s.Lists, func(a, b List) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(s.Segments, func(a, b Segment) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(s.Topics, func(a, b Topic) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Images, func(a, b Image) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(s.Templates, func(a, b Template) int { return cmp.Compare(a.Key, b.Key) })
	for i := range s.Templates {
		t := &s.Templates[i]
		t.Tags = slices.Compact(slices.Sorted(slices.Values(t.Tags)))
	}
	slices.SortFunc(s.Workflows, func(a, b Workflow) int { return cmp.Compare(a.Key, b.Key) })
}

// Remove removes the definitions that refs has. The kinds stay declared.
func (s *Set) Remove(refs map[Ref]bool) {
	s.Attributes = without(refs, KindAttribute, s.Attributes, func(a Attribute) string { return a.Name })
	s.ActivityProperties = without(refs, KindActivityProperty, s.ActivityProperties, ActivityProperty.Key)
	s.Lists = without(refs, KindList, s.Lists, func(l List) string { return l.Key })
	s.Segments = without(refs, KindSegment, s.Segments, func(g Segment) string { return g.Key })
	s.Topics = without(refs, KindTopic, s.Topics, func(t Topic) string { return t.Name })
	s.Images = without(refs, KindImage, s.Images, func(i Image) string { return i.Path })
	s.Templates = without(refs, KindTemplate, s.Templates, func(t Template) string { return t.Key })
	s.Workflows = without(refs, KindWorkflow, s.Workflows, func(w Workflow) string { return w.Key })
}

// without returns the definitions of a kind without those that refs has.
func without[T any](refs map[Ref]bool, kind Kind, all []T, key func(T) string) []T {
	return slices.DeleteFunc(all, func(d T) bool { return refs[Ref{kind, key(d)}] })
}

// Item is a definition that can be compared: definitions with the same Ref are equal if and only if
// their Contents are.
type Item struct {
	Ref
	Content string
}

// Items returns the definitions of a kind, in their order.
func (s *Set) Items(kind Kind) []Item {
	switch kind {
	case KindAttribute:
		return items(kind, s.Attributes, func(a Attribute) (string, []any) { return a.Name, []any{a.Type, a.Description, list(a.EnumValues)} })
	case KindActivityProperty:
		return items(kind, s.ActivityProperties, func(p ActivityProperty) (string, []any) { return p.Key(), []any{p.Type, p.Description} })
	case KindList:
		return items(kind, s.Lists, func(l List) (string, []any) { return l.Key, []any{l.Name, l.Description} })
	case KindSegment:
		return items(kind, s.Segments, func(s Segment) (string, []any) { return s.Key, []any{s.Name, s.Description, s.Predicate} })
	case KindTopic:
		return items(kind, s.Topics, func(t Topic) (string, []any) { return t.Name, []any{t.DisplayName, t.Description, t.Default} })
	case KindImage:
		return items(kind, s.Images, func(i Image) (string, []any) { return i.Path, []any{i.hash()} })
	case KindTemplate:
		return items(kind, s.Templates, func(t Template) (string, []any) {
			return t.Key, []any{t.Subject, t.HTML, t.Text, t.Topic, list(t.Tags), len(t.TestData), t.TestData}
		})
	default:
		return items(kind, s.Workflows, func(w Workflow) (string, []any) { return w.Key, []any{w.Source} })
	}
}

// items returns the definitions of a kind; parts returns the key of one, and what belongs to it.
func items[T any](kind Kind, all []T, parts func(T) (string, []any)) []Item {
	found := make([]Item, 0, len(all))
	for _, d := range all {
		key, content := parts(d)
		text, err := json.Marshal(content)
		if err != nil { // test data that is no JSON, which the store refuses
			text = []byte(err.Error())
		}
		found = append(found, Item{Ref{kind, key}, string(text)})
	}
	return found
}

// list returns a list that is not nil, so that no list and an empty one are equal.
func list(values []string) []string { return append([]string{}, values...) }
