package segments

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// help is what the editor shows beside the predicate: groups of texts to insert.
type help struct {
	Groups   []helpGroup
	Examples []example
}

// helpGroup is a group of texts to insert, such as attributes. None says that the
// organization has none.
type helpGroup struct {
	Name, None string
	Entries    []helpEntry
}

// helpEntry is a test to insert, with a remark, such as the type of an attribute, and with
// more tests to insert, such as those of its other values.
type helpEntry struct {
	Insert, Remark string
	Values         []string
}

// example is a predicate to start from.
type example struct{ Name, Source string }

// examples are predicates that compile in every organization.
var examples = []example{
	{"Opened recently", "exists(open within 30d)"},
	{"No longer reads", "count(send within 90d) >= 3\nand not exists(open within 90d)"},
	{"Clicked a page", "exists(click where url contains \"pricing\" within 30d)"},
	{"Addresses of a domain", "attr.email ends with \"@example.com\""},
	{"Visited the site", "count(activity.site_visit within 7d) >= 2\nand not unsubscribed from all"},
}

// messageEvents are the tests of message events in the help.
var messageEvents = []helpEntry{
	{Insert: "exists(open within 30d)", Remark: "opened a message"},
	{Insert: "exists(click within 30d)", Remark: "clicked a link"},
	{Insert: "count(send within 30d) >= 1", Remark: "was sent messages"},
	{Insert: "exists(bounce within 90d)", Remark: "a message bounced"},
	{Insert: "last(open) < now - 90d", Remark: "time of the latest open"},
}

// helpOf returns the help for an organization with these names.
func helpOf(names predicate.Schema) help {
	return help{Examples: examples, Groups: []helpGroup{
		attributeHelp(names),
		{Name: "Message events", Entries: messageEvents},
		activityHelp(names),
		namedHelp("Topics", "There are no topics.", slices.Sorted(maps.Keys(names.Topics)), "subscribed to "),
		namedHelp("Lists", "There are no lists.", slices.Sorted(maps.Keys(names.Lists)), "in list "),
		namedHelp("Segments", "There are no other segments.", slices.Sorted(maps.Keys(names.Segments)), "in segment "),
		{Name: "Consent", Entries: []helpEntry{
			{Insert: "not suppressed", Remark: "the address may get mail"}, {Insert: "not unsubscribed from all", Remark: "no opt-out from all mail"},
		}},
	}}
}

// attributeHelp returns the attributes with their types, and the values of enums.
func attributeHelp(names predicate.Schema) helpGroup {
	g := helpGroup{Name: "Attributes", Entries: []helpEntry{{Insert: `attr.email ends with "@example.com"`, Remark: "string"}}}
	for _, name := range slices.Sorted(maps.Keys(names.Attributes)) {
		if name == "email" {
			continue // attr.email is always the address
		}
		of := names.Attributes[name]
		g.Entries = append(g.Entries, attributeEntry("attr."+name, of))
	}
	return g
}

// attributeEntry returns a ready test of an attribute by its type. For an enum it has one
// more test for each further value, and for a bool the other value.
func attributeEntry(attribute string, of predicate.AttributeType) helpEntry {
	entry := helpEntry{Insert: exampleTest(attribute, of.Type), Remark: of.Type.String()}
	for i, value := range visibleNames(of.EnumValues) {
		if test := attribute + " = " + quoted(value); i == 0 {
			entry.Insert = test
		} else {
			entry.Values = append(entry.Values, test)
		}
	}
	if of.Type == predicate.Bool {
		entry.Values = []string{attribute + " = false"}
	}
	return entry
}

// exampleTest returns a test of an attribute or property of a type.
func exampleTest(name string, of predicate.Type) string {
	switch of {
	case predicate.Number:
		return name + " >= 10"
	case predicate.Bool:
		return name + " = true"
	case predicate.Datetime:
		return name + " > now - 30d"
	}
	return name + ` starts with "a"`
}

// activityHelp returns the recorded activities, with a test of each of their properties that
// predicates may test.
func activityHelp(names predicate.Schema) helpGroup {
	g := helpGroup{Name: "Activities", None: "No activity has been recorded."}
	for _, name := range visibleNames(names.Activities) {
		entry := helpEntry{Insert: "exists(" + activityName(name) + " within 30d)"}
		event := predicate.Event{Kind: predicate.ActivityEvent, Activity: name}
		for _, property := range visibleNames(names.PropertyNames(event)) {
			of, _ := names.PropertyType(event, property)
			entry.Values = append(entry.Values, "exists("+activityName(name)+" where "+exampleTest(propertyName(property), of)+")")
		}
		g.Entries = append(g.Entries, entry)
	}
	return g
}

// activityName returns the name of an activity as it is written in predicates. A name with
// characters other than ASCII letters, digits and _ is quoted.
func activityName(name string) string {
	plain := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	if plain {
		return "activity." + name
	}
	return "activity." + quoted(name)
}

// propertyName returns the name of a property as it is written in predicates.
func propertyName(name string) string {
	test := predicate.Known{Field: predicate.Field{Source: predicate.Property, Name: name}, Want: true, Prefix: true}
	return strings.TrimPrefix(predicate.Canonical(&test), "has ")
}

// namedHelp returns the tests of topics, lists or segments: the words before, and the name.
func namedHelp(name, none string, names []string, words string) helpGroup {
	g := helpGroup{Name: name, None: none}
	for _, n := range visibleNames(names) {
		g.Entries = append(g.Entries, helpEntry{Insert: words + quoted(n)})
	}
	return g
}

// visibleNames returns the names without invisible characters. The others are not offered:
// a page could not show what it inserts.
func visibleNames(names []string) []string {
	var visible []string
	for _, name := range names {
		if frame.PlainName(name) == name {
			visible = append(visible, name)
		}
	}
	return visible
}

// quoted returns a text as a string of the predicate language.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}

// unixLines returns a text with LF instead of CRLF.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// Total returns the number of entries in words, for the folded group.
func (g helpGroup) Total() string { return strconv.Itoa(len(g.Entries)) }
