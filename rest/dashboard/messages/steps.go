package messages

import (
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// nextStep is an action that a diagnosis suggests. Tool names the operation that carries it
// out, "" for an action outside Mailhelm.
type nextStep struct {
	Text      string            `json:"step"`
	Tool      string            `json:"tool"`
	Arguments map[string]string `json:"arguments"`
}

// step is a suggested action with a link to the page on which it can be done. Path is "" if
// there is no such page or the visitor may not open it.
type step struct{ Text, Path, Verb string }

// stepPage is the page of the dashboard on which a person carries out an operation. argument
// is the argument of the operation that the page's address repeats as the parameter query.
type stepPage struct{ path, verb, argument, query string }

// stepPages are the pages for the operations that a diagnosis suggests.
var stepPages = map[string]stepPage{
	"contacts_lookup":            {"/contacts", "Find the contact", "email", "q"},
	"suppressions_check_address": {"/suppressions", "Check the address", "email", "email"},
	"sending_readiness_check":    {"/account", "Open the sending account", "", ""},
	"reports_get_sending_health": {"/health", "Open sending health", "", ""},
	"messages_search":            {"/messages", "Show messages of the template", "template", "template"},
}

// stepsOf returns the suggested actions of a diagnosis with links to their pages.
func (m *Messages) stepsOf(v people.Visitor, d diagnosis) []step {
	var steps []step
	for _, s := range d.NextSteps {
		shown := step{Text: frame.PlainName(s.Text)}
		page, ok := stepPages[s.Tool]
		if ok && m.MayOpen(v, frame.Path+page.path) {
			shown.Verb, shown.Path = page.verb, frame.Path+page.path
			if page.argument != "" {
				shown.Path = frame.Address(shown.Path, frame.Parameters{page.query: s.Arguments[page.argument]})
			}
		}
		steps = append(steps, shown)
	}
	return steps
}
