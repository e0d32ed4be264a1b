package whole

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/rest"
)

// TestEveryTextArgumentIsClassified checks that each text member of an input is in one
// of two tables. One table, names, has the members that name objects, with the kinds of
// these objects. The other table, namesNothing, has all other text members, with the
// meaning of the text. A new member fails the test until it is in a table.
func TestEveryTextArgumentIsClassified(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range subjects() {
		for _, place := range nodeOf(t, s.input).texts("") {
			used[place] = true
			if names[place] == nil && namesNothing[place] == "" {
				t.Errorf("%s: %q takes text: add %q with the kinds that it names to names in kinds_test.go, or with what it is to namesNothing", s.name(), place, place)
			}
			if names[place] != nil && namesNothing[place] != "" {
				t.Errorf("%q is in both tables of kinds_test.go", place)
			}
		}
	}
	for _, place := range slices.Concat(slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(namesNothing))) {
		if !used[place] {
			t.Errorf("%q is in a table of kinds_test.go and in no input", place)
		}
	}
	for key := range otherwise {
		operation, _, _ := strings.Cut(key, " ")
		if !slices.ContainsFunc(subjects(), func(s subject) bool { return s.Name == operation }) {
			t.Errorf("%q is an exception for an operation that is not there", key)
		}
	}
}

// casesPerComparison is the number of cases between two comparisons of the other
// organization's data. Reading all of that data takes longer than a case.
const casesPerComparison = 25

// foreignCase is one call of an operation. The input member at the path place names an
// object of another organization, in the way that kind says. number makes the names of the
// case unique.
type foreignCase struct {
	subject
	place  string
	kind   kind
	number int
}

func (c foreignCase) String() string {
	return fmt.Sprintf("%s/%s is the %s", c.name(), c.place, c.kind.name)
}

// foreignCases returns a case for every operation, each member of its input that takes
// text, and each kind of object that the member can name.
func foreignCases(t *testing.T) []foreignCase {
	t.Helper()
	var cases []foreignCase
	for _, s := range subjects() {
		for _, place := range nodeOf(t, s.input).texts("") {
			for _, k := range s.kindsAt(place) {
				cases = append(cases, foreignCase{s, place, k, len(cases) + 1})
			}
		}
	}
	return cases
}

// TestOtherOrganizationsObjectsAreNotFound calls every operation with names of the other
// organization's objects, in every member of the arguments that can name an object. It
// checks that the answer is the same as for a name that does not exist. It also checks that
// the other organization's data does not change.
func TestOtherOrganizationsObjectsAreNotFound(t *testing.T) {
	t.Parallel()
	product.OnceWith(t, product.Options{Mail: true}, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		for cases := range slices.Chunk(foreignCases(t), casesPerComparison) {
			// new tokens, because a token lasts an hour of the test clock
			w.own, w.others = callerOf(t, p, p.Live), callerOf(t, p, p.Other.Live)
			var foreign []string
			for _, c := range cases {
				foreign = append(foreign, c.kind.foreign(t, w, c.number))
			}
			before := w.othersState(t)
			for i, c := range cases {
				t.Run(c.String(), func(t *testing.T) { w.checkForeign(t, c, foreign[i]) })
			}
			if diff := cmp.Diff(before, w.othersState(t)); diff != "" {
				t.Errorf("one of these calls changed the other organization (- before, + after):\n%v\n%s", cases, diff)
			}
		}
	})
}

// checkForeign compares the answer about the other organization's object of the given name
// with the answer about an object that does not exist.
func (w world) checkForeign(t *testing.T, c foreignCase, foreign string) {
	t.Helper()
	s, place, k, number := c.subject, c.place, c.kind, c.number
	ask := func(name, which string) answer {
		own := ownAddress(which, number)
		if place != "email" {
			w.contact(t, w.own, own, "own-"+which+fmt.Sprint(number))
		}
		arguments := nodeOf(t, s.input).with(place, name, func(beside string) string {
			if beside == "name" && strings.HasPrefix(s.Name, "attributes_") {
				return fmt.Sprintf("own_%s_%03d", which, number)
			}
			if beside == "id" || beside == "broadcast_id" || beside == "slug" || beside == "domain" {
				return w.ownFor(t, s, own)
			}
			return own
		}).(map[string]any)
		completeActivity(arguments, own)
		maps.Copy(arguments, companions[place])
		maps.Copy(arguments, companions[s.Name+" "+place])
		maps.Copy(arguments, companions[s.Name+" "+place+" "+k.name])
		if s.surface == core.Agent {
			maps.Copy(arguments, companions[s.Name+" "+place+", asked by agents"])
		}
		if identifies := []string{"email", "external_id", "contact_id"}; !slices.Contains(identifies, place) && slices.Contains(s.input.Members(), "email") {
			arguments["email"] = own // own is the address of an existing contact of the caller
		}
		got := w.own.call(t, s, arguments)
		got.body = normalize(got.body, name, own)
		return got
	}
	there, nowhere := ask(foreign, "foreign"), ask(k.absent(number), "absent")
	if diff := cmp.Diff(nowhere.body, there.body); diff != "" || there.status != nowhere.status {
		t.Errorf("%s that the other organization has is answered %d, one that nobody has %d (- nobody's, + the other's):\n%s", k.name, there.status, nowhere.status, diff)
	}
	if diff := cmp.Diff(headersOf(nowhere.header), headersOf(there.header)); diff != "" {
		t.Errorf("the headers tell them apart (- nobody's, + the other's):\n%s", diff)
	}
	want := s.answersTo(t, place, k)
	if status, code := there.outcome(); status != want.status || code != want.code {
		t.Errorf("answered %d %q, want %d %q %s: %s\nif that is meant, add %q: {%d, %q, why} to otherwise in kinds_test.go",
			status, code, want.status, want.code, want.why, there.body, s.Name+" "+place, status, code)
	}
	if root, _, _ := strings.Cut(strings.TrimRight(place, "[]{}"), "["); strings.HasSuffix(want.code, "validation_failed") && !strings.Contains(there.body, `"field":"`+root) {
		t.Errorf("refused for another member than %s: %s", root, there.body)
	}
}

func ownAddress(which string, number int) string {
	return fmt.Sprintf("own.%s.%03d@example.org", which, number)
}

// ownFor returns the value for a required argument other than the tested one. If the
// operation needs the id of an object, ownFor creates that object for the caller's
// organization and returns its id. Otherwise it returns the parameter own, the address of a
// contact.
func (w world) ownFor(t *testing.T, s subject, own string) string {
	t.Helper()
	switch s.Name {
	case "segments_check_member":
		return w.segment(t, w.p.OrgID, core.NewID()[24:]).ID
	case "activity_properties_replace", "activity_properties_preview":
		return w.property(t, w.p.OrgID, "own "+core.NewID(), "own").ID
	case "templates_test_send":
		return w.template(t)
	case "broadcasts_preview", "broadcasts_test_send":
		return w.broadcast(t, w.p.OrgID, "Own")
	case "inbox_pull_tokens_revoke":
		return w.inbox(t, w.p.OrgID).ID
	case "inbound_addresses_create", "inbound_addresses_delete":
		return w.receivingDomain(t, w.p.OrgID, "own-"+core.NewID()+".elsewhere.example").Domain
	case "workflows_dry_run", "workflows_timeline":
		return w.workflow(t, w.p.OrgID, "own-"+core.NewID()).ID
	}
	return own
}

// completeActivity adds the members that an activity requires to the items of an
// activities_record call.
func completeActivity(arguments map[string]any, own string) {
	items, _ := arguments["activities"].([]any)
	for _, item := range items {
		members := item.(map[string]any)
		if members["name"] == nil {
			members["name"] = "seen"
		}
		if members["email"] == nil && members["external_id"] == nil {
			members["email"] = own
		}
	}
}

var (
	anyID   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// normalize replaces the parts of a body that differ between equal answers: the requested
// names, generated ids and times.
func normalize(body string, asked ...string) string {
	for _, text := range asked {
		body = strings.ReplaceAll(body, text, "ASKED")
		// replace the list key too, which the product derives from the name
		body = strings.ReplaceAll(body, strings.ReplaceAll(text, "_", "-"), "ASKED")
	}
	body = regexp.MustCompile(`own-(foreign|absent)\d+`).ReplaceAllString(body, "OWN")
	body = regexp.MustCompile(`(foreign|missing)_named_\d+`).ReplaceAllString(body, "NAMED")
	body = regexp.MustCompile(`0[0-9a-f]{15}-[0-9a-f-]{36}-0{6}`).ReplaceAllString(body, "MESSAGE")
	body = regexp.MustCompile(`vis_[0-9a-z]{26}`).ReplaceAllString(body, "VISITOR")
	return anyTime.ReplaceAllString(anyID.ReplaceAllString(body, "ID"), "TIME")
}

// headersOf returns the headers of an answer with their values. Headers whose values differ
// between equal answers are returned as names only.
func headersOf(h http.Header) []string {
	var lines []string
	for name, values := range h {
		switch name {
		case "X-Request-Id", "Date", "Content-Length", "Location", "Etag":
			values = nil
		}
		lines = append(lines, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines)
	return lines
}

// othersState calls all read operations as the other organization. It returns the results,
// keyed by operation, and the number of the organization's audit events.
func (w world) othersState(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{}
	for _, s := range subjects() {
		if s.surface != core.REST || s.Effect != core.Reads || strings.Contains(s.route.Path, "{") {
			continue
		}
		arguments := map[string]any{}
		if slices.Contains(s.input.Members(), "limit") {
			arguments["limit"] = 200
		}
		if slices.Contains(s.input.Members(), "source") {
			arguments["source"] = everybody
		}
		state[s.name()] = w.read(t, s, arguments)
		// compare contact_list_get without its times: they change if the job that copies the
		// contact list finishes between two calls of othersState
		if s.Name == "contact_list_get" {
			state[s.name()] = normalize(state[s.name()])
		}
		if s.Name == "contacts_list" {
			w.readContacts(t, state[s.name()], state)
		}
	}
	events, err := w.p.DB.Audit().FindAudit(t.Context(), w.p.Other.OrgID, access.AuditFilter{Limit: 1000})
	w.must(t, err)
	state["audit lines"] = fmt.Sprint(len(events))
	return state
}

func (w world) read(t *testing.T, s subject, arguments map[string]any) string {
	t.Helper()
	got := w.others.call(t, s, arguments)
	if got.status != http.StatusOK {
		t.Fatalf("%s by the other organization: %d %s", s.name(), got.status, got.body)
	}
	return got.body
}

var addresses = regexp.MustCompile(`"email":"([^"]+)"`)

// readContacts reads each contact of a page one by one, and stores the results in state.
// Unlike the list of contacts, these results include the consent that the sending account
// has at the moment.
func (w world) readContacts(t *testing.T, page string, state map[string]string) {
	t.Helper()
	for _, found := range addresses.FindAllStringSubmatch(page, -1) {
		lookup := subject{surface: core.REST, route: rest.Route{Method: http.MethodGet, Path: "/v1/contacts/{email}"}}
		state["contact "+found[1]] = w.read(t, lookup, map[string]any{"email": found[1]})
	}
}

// TestEachArgumentContainsTheTextOnce checks the arguments that the other tests send:
// each must contain the test's text exactly once. Otherwise other tests could pass
// without testing the intended member.
func TestEachArgumentContainsTheTextOnce(t *testing.T) {
	t.Parallel()
	beside := func(string) string { return "own@example.com" }
	for _, s := range subjects() {
		for _, place := range nodeOf(t, s.input).texts("") {
			text, err := json.Marshal(nodeOf(t, s.input).with(place, "mark@example.com", beside))
			if err != nil || strings.Count(string(text), "mark@example.com") != 1 {
				t.Errorf("%s: %q is filled as %s", s.name(), place, text)
			}
		}
	}
}
