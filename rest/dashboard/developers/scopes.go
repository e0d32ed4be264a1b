package developers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// fieldScope is the name of the form field for a chosen scope. The form has one such field
// for each chosen scope.
const fieldScope = "scope"

// scopeAreas groups the scopes by the word after "api.". A scope with another word would be
// shown in the group "Other"; a test fails if such a scope exists.
var scopeAreas = []struct {
	name  string
	words []string
}{
	{"Sending account", []string{"account", "identities", "channels", "tracking", "domain_auth"}},
	{"Messages and reports", []string{"messages", "reports", "activities"}},
	{"Suppressed and undeliverable addresses", []string{"suppressions", "undeliverable"}},
	{"Contacts", []string{"contacts", "topics", "lists", "segments", "attributes"}},
	{"Content and campaigns", []string{"templates", "assets", "tags", "broadcasts", "workflows"}},
	{"Received mail", []string{"inboxes", "inbound"}},
}

// scopeArea is the data of a group of scopes on the page.
type scopeArea struct {
	Name    string
	Choices []scopeChoice
	Chosen  int
}

// scopeChoice is the data of one scope and its checkbox.
type scopeChoice struct {
	core.ScopeInfo
	Changes bool // the scope permits changes
	Chosen  bool
	// Locked scopes cannot be chosen, because the visitor's permissions do not cover them.
	Locked bool
}

// scopeChoices returns the scopes in groups and marks the chosen ones. It omits scopes that
// no operation needs yet, unless the credential already has them. A scope cannot be
// selected if the permissions of the visitor (giver) do not cover it. This does not apply
// to scopes that the credential already has.
func (d *Developers) scopeChoices(chosen, has core.Scopes, giver members.Member) []scopeArea {
	areas := make([]scopeArea, len(scopeAreas)+1)
	for i, a := range scopeAreas {
		areas[i].Name = a.name
	}
	areas[len(scopeAreas)].Name = "Other"
	mayGive := giver.Scopes()
	for _, info := range core.ScopeCatalogue() {
		if !d.IsScopeBuilt(info.Scope) && !has.Has(info.Scope) {
			continue
		}
		c := scopeChoice{
			ScopeInfo: info, Changes: !looksOnly(info.Scope), Chosen: chosen.Has(info.Scope),
			Locked: !mayGive.Has(info.Scope) && !has.Has(info.Scope),
		}
		into := &areas[areaOfScope(info.Scope)]
		into.Choices = append(into.Choices, c)
		if c.Chosen {
			into.Chosen++
		}
	}
	return slices.DeleteFunc(areas, func(a scopeArea) bool { return len(a.Choices) == 0 })
}

// areaOfScope returns the index of a scope's group in scopeAreas. For a scope of the group
// "Other" it returns the length of scopeAreas.
func areaOfScope(s core.Scope) int {
	word, _, _ := strings.Cut(strings.TrimPrefix(string(s), "api."), ".")
	for i, a := range scopeAreas {
		if slices.Contains(a.words, word) {
			return i
		}
	}
	return len(scopeAreas)
}

// looksOnly reports whether a scope permits only reading, not changes.
func looksOnly(s core.Scope) bool {
	return strings.HasSuffix(string(s), ".view") || s == core.MessagesUnmask
}

// scopesOf returns the scopes of a role that an operation needs and that the visitor
// (giver) may give.
func (d *Developers) scopesOf(role members.RoleSet, giver members.Member) core.Scopes {
	var given core.Scopes
	mayGive := giver.Scopes()
	for _, s := range role.Scopes() {
		if mayGive.Has(s) && d.IsScopeBuilt(s) {
			given = append(given, s)
		}
	}
	return given
}

// startingScopes returns the scopes that a form has selected when it is opened: those of the
// role in the query parameter role, or those that the credential has.
func (d *Developers) startingScopes(r *http.Request, has core.Scopes, giver members.Member) core.Scopes {
	if role, ok := frame.RoleOf(r); ok {
		return d.scopesOf(role, giver)
	}
	return has
}

// roleChoices returns the choice of a role for the form at path.
func (d *Developers) roleChoices(path string, giver members.Member) frame.RoleChoices {
	return frame.RoleChoicesOf(path, fieldScope, func(role members.RoleSet) []string {
		var names []string
		for _, s := range d.scopesOf(role, giver) {
			names = append(names, string(s))
		}
		return names
	})
}

// chosenScopes returns the scopes that a submitted form selects, each once. It keeps
// unknown ones, so that core/access refuses them.
func chosenScopes(r *http.Request) core.Scopes {
	var chosen core.Scopes
	for _, name := range r.PostForm[fieldScope] {
		if s := core.Scope(name); !slices.Contains(chosen, s) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// checkGiven fails if no scope is chosen. It also fails for a scope that the permissions of
// the visitor (giver) do not cover, unless the credential already has it. A visitor cannot
// give a program more than their own permissions.
func checkGiven(chosen, has core.Scopes, giver members.Member) error {
	if len(chosen) == 0 {
		return core.Invalid(fieldScopes, "are missing: select at least one")
	}
	mayGive := giver.Scopes()
	for _, s := range chosen {
		if s.IsKnown() && !mayGive.Has(s) && !has.Has(s) {
			return core.Invalid(fieldScopes, "must not contain "+string(s)+": you do not have the permission for it")
		}
	}
	return nil
}

// checkHandedOut fails if a member's permissions do not cover all scopes of a credential.
// Such a member must not see the credential's secret.
func checkHandedOut(has core.Scopes, to members.Member) error {
	if lacks := to.Scopes().FirstMissing(has); lacks != "" {
		return core.Conflict("The credential has scopes for which you do not have the permission.",
			"One is "+string(lacks)+". Ask a member who has the permission, or remove the scope first.")
	}
	return nil
}

// checkSentTo refuses new redirect URIs of a client if the permissions of the member giver
// do not cover all scopes of the client. Authorization codes sent to such a URI would give
// the access that other people granted to the client. The old URIs are in the parameter
// had, the URIs to store in wanted.
func checkSentTo(had, wanted []string, may core.Scopes, giver members.Member) error {
	lacks := giver.Scopes().FirstMissing(may)
	adds := slices.ContainsFunc(wanted, func(uri string) bool { return !slices.Contains(had, uri) })
	if lacks == "" || !adds {
		return nil
	}
	return core.Invalid(fieldRedirects, "must stay unchanged: the application has the scope "+string(lacks)+", and you do not have the permission for it")
}

// scopeRows returns the scopes of a credential with their descriptions.
func scopeRows(has core.Scopes) []scopeChoice {
	var rows []scopeChoice
	for _, info := range core.ScopeCatalogue() {
		if has.Has(info.Scope) {
			rows = append(rows, scopeChoice{ScopeInfo: info, Changes: !looksOnly(info.Scope)})
		}
	}
	return rows
}
