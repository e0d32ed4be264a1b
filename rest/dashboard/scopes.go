package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const fieldScope = "scope"

// scopeAreas put the scopes together that belong together for people, by the word
// behind "api.". What is in none of them would be shown as "Other".
var scopeAreas = []struct {
	name  string
	words []string
}{
	{"Sending account", []string{"account", "identities", "channels", "tracking", "domain_auth"}},
	{"Messages and reports", []string{"messages", "reports", "activities"}},
	{"Addresses that get no mail", []string{"suppressions", "undeliverable"}},
	{"Contacts", []string{"contacts", "topics", "lists", "segments", "attributes"}},
	{"Content and campaigns", []string{"templates", "assets", "tags", "broadcasts", "workflows"}},
	{"Received mail", []string{"inboxes", "inbound"}},
}

// scopeArea is a group of scopes to choose from.
type scopeArea struct {
	Name    string
	Choices []scopeChoice
	Chosen  int
}

type scopeChoice struct {
	core.ScopeInfo
	Changes bool // it lets something be changed
	Chosen  bool
	// Locked is one that the visitor lacks and so cannot give.
	Locked bool
}

// scopeChoices are all scopes, with those chosen that are in chosen. What the
// giver lacks and the credential does not have cannot be given.
func scopeChoices(chosen, has core.Scopes, giver access.Member) []scopeArea {
	areas := make([]scopeArea, len(scopeAreas)+1)
	for i, a := range scopeAreas {
		areas[i].Name = a.name
	}
	areas[len(scopeAreas)].Name = "Other"
	mayGive := giver.Scopes()
	for _, info := range core.ScopeCatalogue() {
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

// areaOfScope is the index into scopeAreas, or the one after them.
func areaOfScope(s core.Scope) int {
	word, _, _ := strings.Cut(strings.TrimPrefix(string(s), "api."), ".")
	for i, a := range scopeAreas {
		if slices.Contains(a.words, word) {
			return i
		}
	}
	return len(scopeAreas)
}

// looksOnly reports whether a scope lets nothing be changed.
func looksOnly(s core.Scope) bool {
	return strings.HasSuffix(string(s), ".view") || s == core.MessagesUnmask
}

// preset are the scopes that are marked when the form is opened. What shows
// recipients in full is marked by hand, also where the rest only looks.
func preset(r *http.Request, giver access.Member) core.Scopes {
	var marked core.Scopes
	for _, s := range giver.Scopes() {
		switch r.URL.Query().Get("preset") {
		case "read":
			if looksOnly(s) && s != core.MessagesUnmask {
				marked = append(marked, s)
			}
		case "all":
			marked = append(marked, s)
		}
	}
	return marked
}

// chosenScopes are those that a form holds; unknown ones are still among them,
// for the task to refuse.
func chosenScopes(r *http.Request) core.Scopes {
	var chosen core.Scopes
	for _, name := range r.PostForm[fieldScope] {
		if s := core.Scope(name); !slices.Contains(chosen, s) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// checkGiven refuses no scopes at all, and scopes that neither the giver's
// permissions cover nor the credential has: nobody gives a program more than they
// may do themselves.
func checkGiven(chosen, has core.Scopes, giver access.Member) error {
	if len(chosen) == 0 {
		return core.Invalid(fieldScopes, "must be at least one")
	}
	mayGive := giver.Scopes()
	for _, s := range chosen {
		if s.Known() && !mayGive.Has(s) && !has.Has(s) {
			return core.Invalid(fieldScopes, "must not hold "+string(s)+", which your own permissions do not cover")
		}
	}
	return nil
}

// checkHandedOut refuses to show somebody the secret of a credential that may do
// more than they may.
func checkHandedOut(has core.Scopes, to access.Member) error {
	if lacks := to.Scopes().Missing(has); lacks != "" {
		return core.Conflict("The new secret would let you do more than your own permissions do.",
			"It has the scope "+string(lacks)+", for one. Ask somebody who has the permission behind it, or take the scope away first.")
	}
	return nil
}

// checkSentTo refuses to have the codes of a client sent to an address that it did
// not have, by somebody whose permissions do not cover all that the client may be
// allowed: whoever has such a code may get what others allowed the client.
func checkSentTo(had, wanted []string, may core.Scopes, giver access.Member) error {
	lacks := giver.Scopes().Missing(may)
	adds := slices.ContainsFunc(wanted, func(uri string) bool { return !slices.Contains(had, uri) })
	if lacks == "" || !adds {
		return nil
	}
	return core.Invalid(fieldRedirects, "must not be new ones: the application has the scope "+string(lacks)+", which your own permissions do not cover")
}

// scopeRows are the scopes of a credential in words.
func scopeRows(has core.Scopes) []scopeChoice {
	var rows []scopeChoice
	for _, info := range core.ScopeCatalogue() {
		if has.Has(info.Scope) {
			rows = append(rows, scopeChoice{ScopeInfo: info, Changes: !looksOnly(info.Scope)})
		}
	}
	return rows
}
