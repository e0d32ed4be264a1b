package wording

import (
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/workflows/examples"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// HelpGroup is a group of texts to insert into a source. None says that the organization has
// none.
type HelpGroup struct {
	Name, None string
	Entries    []HelpEntry
}

// HelpEntry is a text to insert, with a remark.
type HelpEntry struct{ Insert, Remark string }

// Example is a source to start from.
type Example struct{ Name, Source string }

// steps and settings are what a source may have, except for names.
var (
	steps = []HelpEntry{
		{"wait 3 days", "minutes, hours, days, weeks, months"},
		{"wait until attr.renewal_date", "a date of the contact"},
		{"wait up to 2 days until exists(open within 2d) {\n  timeout:\n    exit\n}", "an event, or the time is over"},
		{"if exists(click within 7d) {\n  exit\n} else {\n  wait 1 day\n}", "a branch"},
		{"split {\n  50%: {\n    wait 1 day\n  }\n  50%: {\n    wait 2 days\n  }\n}", "random shares"},
		{"hold out 10%", "a control group"},
		{"repeat up to 3 every 7 days {\n  wait 1 hour\n}", "at most 100 times"},
		{"exit", "the end of the journey"},
	}
	settings = []HelpEntry{
		{"exit \"bought\" when exists(activity.order within 30d)", "tested before each step"},
		{"send window 9am-6pm in contact timezone", "later messages wait"},
		{"reentry on rematch", "default: once"},
		{"frequency cap 2 per 1 week", "replaces the limit of the organization"},
		{"enroll existing since 30 days", "contacts of before the activation"},
	}
)

// Examples returns sources to start from. The names in them are to be replaced.
func Examples() []Example {
	var all []Example
	for _, e := range examples.All() {
		if tree := TreeOf(e.Source); tree != nil {
			all = append(all, Example{tree.Name, e.Source})
		}
	}
	return all
}

// maxHelp is the maximum number of names in a group of the help.
const maxHelp = 60

// HelpOf returns the help for an organization with these names.
func HelpOf(names language.Schema) []HelpGroup {
	group := func(name, none string, keys []string, before, after string) HelpGroup {
		g := HelpGroup{Name: name, None: none}
		for _, key := range keys[:min(len(keys), maxHelp)] {
			if key == core.OnlyVisible(key) { // a name with invisible characters would be inserted without them
				g.Entries = append(g.Entries, HelpEntry{before + core.Quote(key) + after, ""})
			}
		}
		return g
	}
	attributes := HelpGroup{Name: "Attributes", None: "There are no attributes."}
	for _, name := range slices.Sorted(maps.Keys(names.Attributes)) {
		if len(attributes.Entries) < maxHelp {
			attributes.Entries = append(attributes.Entries, HelpEntry{"attr." + name, names.Attributes[name].Type.String()})
		}
	}
	sendable := slices.DeleteFunc(slices.Sorted(maps.Keys(names.Templates)), func(name string) bool { return !names.Templates[name] })
	return []HelpGroup{
		group("Templates", "There are no templates.", sendable, "send ", ""),
		group("Topics", "There are no topics.", slices.Sorted(maps.Keys(names.Topics)), "via topic ", ""),
		group("Segments", "There are no segments.", slices.Sorted(maps.Keys(names.Segments)), "enter on segment ", ""),
		group("Lists", "There are no lists.", slices.Sorted(maps.Keys(names.Lists)), "add to list ", ""),
		attributes,
		{Name: "Steps", Entries: steps},
		{Name: "Settings", Entries: settings},
	}
}
