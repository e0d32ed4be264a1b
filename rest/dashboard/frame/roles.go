package frame

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core/members"
)

// paramRole is the query parameter that names the role whose boxes a form has ticked.
const paramRole = "role"

// RoleChoices is the data of the template "roles": links that tick the checkboxes of a form
// for a role. With the script the boxes change at once; without it the page is loaded again.
type RoleChoices struct {
	// Field is the name of the checkboxes.
	Field string
	Roles []RoleChoice
}

// RoleChoice is a role with the values of its checkboxes, separated by spaces.
type RoleChoice struct{ Path, Title, Words, Values string }

// RoleChoicesOf returns the choice of a role for a form. path is the page of the form, field
// the name of its checkboxes, and values returns those that a role ticks.
func RoleChoicesOf(path, field string, values func(members.RoleSet) []string) RoleChoices {
	choices := RoleChoices{Field: field}
	for _, set := range members.RoleSets() {
		choices.Roles = append(choices.Roles, RoleChoice{
			Path: path + "?" + url.Values{paramRole: {set.Name}}.Encode(), Title: set.Title, Words: set.Words, Values: strings.Join(values(set), " "),
		})
	}
	return choices
}

// RoleOf returns the role that the address of the page names, or false if there is none.
func RoleOf(r *http.Request) (members.RoleSet, bool) {
	return members.RoleSetOf(r.URL.Query().Get(paramRole))
}
