package contacts

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The form of a contact has for each field a second, hidden one with the value that the form
// first showed. Only values that differ are written, so a form that was open for long does
// not undo changes of others. The constants are the prefixes of both kinds of names.
const (
	shownField     = "was."
	attributeField = "attribute."
	topicField     = "topic."
	listField      = "list."
)

// editPage is the data of the form for a new or an existing contact.
type editPage struct {
	Form       frame.Form
	Once       string
	New        bool
	Back       string
	Email      editField
	ExternalID editField
	All        editField // the global opt-out
	Topics     []editField
	Lists      []editField
	MoreLists  bool // whether there are lists that the form does not offer
	Attributes []editField
}

// editField is one field of the form, with its value and the value that it first showed.
type editField struct {
	Name, Label, Hint string
	Type              string // the type of an attribute
	Value, Was        string
	Options           []frame.Option
	Fixed             bool // whether the field only shows the value
}

// editLabels has the names of the fields in refusals.
var editLabels = frame.Labels{"email": "The address", "external_id": "The external id"}

// fieldsOf returns the fields of the form for a contact. typed has the values of a refused
// form; it is nil for the values of the contact.
func (k choices) fieldsOf(c audience.Contact, typed url.Values) editPage {
	field := func(name, label, stored string) editField {
		f := editField{Name: name, Label: label, Value: stored, Was: stored}
		if typed != nil {
			f.Value, f.Was = typed.Get(name), typed.Get(shownField+name)
		}
		return f
	}
	external := ""
	if c.ExternalID != nil {
		external = *c.ExternalID
	}
	page := editPage{New: c.ID == "", Email: field("email", "Address", c.Email), ExternalID: field("external_id", "External id", external)}
	page.ExternalID.Fixed = external != ""
	page.Email.Fixed = !page.New && external == ""
	page.All = field("unsubscribe_all", "The contact opted out of everything", strconv.FormatBool(c.UnsubscribeAll))
	for _, t := range k.Topics {
		page.Topics = append(page.Topics, topicChoice(c, t, field))
	}
	for _, l := range k.Lists.with(c.Lists) {
		on := slices.ContainsFunc(c.Lists, func(r lists.Ref) bool { return r.ID == l.ID })
		page.Lists = append(page.Lists, field(listField+l.ID, frame.PlainName(l.Name), strconv.FormatBool(on)))
	}
	page.MoreLists = k.Lists.More
	for _, a := range k.Attributes {
		f := field(attributeField+a.Name, frame.PlainName(a.Name), textOf(c.Attributes[a.Name]))
		f.Type, f.Hint = a.Type, frame.PlainName(a.Description)
		for _, v := range a.EnumValues {
			f.Options = append(f.Options, frame.Option{Value: v, Name: frame.PlainName(v)})
		}
		if a.Type == "bool" {
			f.Options = []frame.Option{{Value: "true", Name: "true"}, {Value: "false", Name: "false"}}
		}
		if f.Options != nil { // other types have a text field
			f.Options = frame.ChooseOption(f.Options, f.Value)
		}
		page.Attributes = append(page.Attributes, f)
	}
	return page
}

// topicChoice returns the field of a topic. A choice can be changed, and not taken back.
func topicChoice(c audience.Contact, t topic, field func(name, label, stored string) editField) editField {
	stored := ""
	for _, choice := range c.TopicPreferences {
		if choice.Topic == t.Name {
			stored = string(choice.SubscriptionStatus)
		}
	}
	f := field(topicField+t.Name, t.title(), stored)
	if f.Was == "" {
		words := "No choice (does not get it by default)"
		if t.Default == sending.OptIn {
			words = "No choice (gets it by default)"
		}
		f.Options = []frame.Option{{Value: "", Name: words, Chosen: f.Value == ""}}
	}
	f.Options = append(f.Options, frame.Option{Value: string(sending.OptIn), Name: "Opted in", Chosen: f.Value == string(sending.OptIn)},
		frame.Option{Value: string(sending.OptOut), Name: "Opted out", Chosen: f.Value == string(sending.OptOut)})
	return f
}

// isChecked reports whether a field is a checkbox, which a browser sends only if it is
// checked.
func isChecked(name string) bool {
	return name == "unsubscribe_all" || strings.HasPrefix(name, listField)
}

// with returns the lists that the form of a contact offers: those in s, then the others that
// the contact is on.
func (s sets) with(of []lists.Ref) []named {
	all := slices.Clone(s.All)
	for _, l := range of {
		if !slices.ContainsFunc(s.All, func(n named) bool { return n.ID == l.ID }) {
			all = append(all, named{ID: l.ID, Key: l.Key, Name: l.Name})
		}
	}
	return all
}

// changesIn returns the values of the form that differ from those that it first showed, by
// the names of the fields.
func changesIn(form url.Values) map[string]string {
	changes := map[string]string{}
	for name := range form {
		field, isShown := strings.CutPrefix(name, shownField)
		if !isShown {
			continue
		}
		value := strings.TrimSpace(form.Get(field))
		if isChecked(field) {
			value = strconv.FormatBool(form.Has(field))
		}
		if value != strings.TrimSpace(form.Get(name)) {
			changes[field] = value
		}
	}
	return changes
}

// argumentsOf returns the arguments of the operation that writes these changes, without the
// contact's address and external id.
func (k choices) argumentsOf(changes map[string]string) map[string]any {
	attributes, chosen, add, remove := map[string]any{}, map[string]string{}, []string{}, []string{}
	arguments := map[string]any{}
	for _, a := range k.Attributes {
		if text, is := changes[attributeField+a.Name]; is {
			attributes[a.Name] = valueOf(a.Type, text)
		}
	}
	for _, t := range k.Topics {
		if choice := changes[topicField+t.Name]; choice != "" {
			chosen[t.Name] = choice
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		id, isList := strings.CutPrefix(name, listField)
		switch {
		case isList && changes[name] == "true":
			add = append(add, id)
		case isList:
			remove = append(remove, id)
		}
	}
	if len(attributes) > 0 {
		arguments["attributes"] = attributes
	}
	if len(chosen) > 0 {
		arguments["topic_preferences"] = chosen
	}
	if all, is := changes["unsubscribe_all"]; is {
		arguments["unsubscribe_all"] = all == "true"
	}
	if len(add)+len(remove) > 0 {
		arguments["lists"] = map[string]any{"add": add, "remove": remove}
	}
	return arguments
}

// valueOf returns the value of an attribute that a text states. An empty text clears the
// value. A text that is no value of the type is returned as it is, and the operation refuses
// it.
func valueOf(kind, text string) any {
	switch kind {
	case "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	case "bool":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	if text == "" {
		return nil
	}
	return text
}

// refusalOf returns the text to show above a form for the error of an operation, or "" for
// an error that is no refusal of the form's content.
func refusalOf(err error) string {
	e := core.AsError(err)
	switch e.Code {
	case core.CodeInternalError, core.CodeNotFound, core.CodeInvalidScope:
		return ""
	case core.CodeValidationFailed:
		return editLabels.Problem(err)
	}
	return frame.TextOf(err)
}
