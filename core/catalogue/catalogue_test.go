package catalogue_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
)

// The tests of this file check rules that every operation must keep.

func TestEveryOperationIsWellNamed(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
	seen := map[string]bool{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		if !name.MatchString(info.Name) || seen[info.Name] {
			t.Errorf("%q is not a snake-case name of its own", info.Name)
		}
		seen[info.Name] = true
		if info.Title == "" || strings.HasSuffix(info.Title, ".") || !strings.HasSuffix(info.Purpose, ".") {
			t.Errorf("%s: title %q is a phrase, purpose %q whole sentences", info.Name, info.Title, info.Purpose)
		}
		for _, s := range info.Scopes {
			if !s.IsKnown() {
				t.Errorf("%s needs the unknown scope %q", info.Name, s)
			}
		}
	}
}

func TestOnlyTheTwoThatCannotBeTakenBackConfirm(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		if info.Confirms != (info.Name == "broadcasts_send" || info.Name == "workflows_activate") {
			t.Errorf("%s: confirms = %v", info.Name, info.Confirms)
		}
	}
}

func TestEveryArgumentIsDescribed(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		for _, surface := range []core.Surface{core.REST, core.Agent} {
			var schema struct {
				Type                 string
				AdditionalProperties *bool
				Properties           map[string]struct{ Description string }
			}
			if err := json.Unmarshal(op.Input(surface).Text(), &schema); err != nil {
				t.Fatal(err)
			}
			if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
				t.Errorf("%s: the %s input schema is not a closed object", op.Info().Name, surface)
			}
			for name, property := range schema.Properties {
				if property.Description == "" {
					t.Errorf("%s: %s argument %q has no description", op.Info().Name, surface, name)
				}
			}
		}
	}
}

// TestMembersAreFoundByType checks that HasMember, which reads the Go type of the arguments, finds
// the members of the schema and no others.
func TestMembersAreFoundByType(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		names := slices.Concat(op.Input(core.REST).Members(), op.Input(core.Agent).Members(), []string{"", "-", "Email", "org_id"})
		for _, surface := range []core.Surface{core.REST, core.Agent} {
			schema := op.Input(surface)
			for _, name := range names {
				if got, want := schema.HasMember(name), slices.Contains(schema.Members(), name); got != want {
					t.Errorf("%s: %s member %q: %v, want %v", op.Info().Name, surface, name, got, want)
				}
			}
		}
	}
}

// definitionScopes are the scopes for changing definitions (lists, topics, attributes and
// activities), which a connected Git repository may own.
var definitionScopes = []core.Scope{core.ListsManage, core.TopicsManage, core.AttributesManage, core.ActivitiesManage}

// lacksGitOwned reports whether an operation changes definitions without declaring, in
// GitOwned, what it does if a Git repository owns them.
func lacksGitOwned(info core.OperationInfo) bool {
	defines := slices.ContainsFunc(info.Scopes, func(s core.Scope) bool { return slices.Contains(definitionScopes, s) })
	return defines && info.Effect != core.Reads && info.GitOwned == core.GitIndifferent
}

func TestWritesOfDefinitionsSayWhatGitMakesOfThem(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		if lacksGitOwned(op.Info()) {
			t.Errorf("%s writes a definition and does not declare GitOwned", op.Info().Name)
		}
	}
	// The real operations all pass the check above. So made-up operations show that
	// lacksGitOwned reports a write without GitOwned.
	for _, scope := range definitionScopes {
		for _, effect := range []core.Effect{core.Writes, core.Destroys} {
			info := core.OperationInfo{Effect: effect, Scopes: []core.Scope{core.ContactsManage, scope}}
			refused := info
			refused.GitOwned = core.GitRefused
			if !lacksGitOwned(info) || lacksGitOwned(refused) {
				t.Errorf("%s that %s is not told from one that declares it", scope, effect)
			}
		}
		if lacksGitOwned(core.OperationInfo{Effect: core.Reads, Scopes: []core.Scope{scope}}) {
			t.Errorf("a read with %s writes nothing", scope)
		}
	}
}

// TestEveryTextOfAResultSaysWhoseItIs checks that every field with text in the result of an
// operation has the tag "voice", which says whether Mailhelm or an outsider wrote the text.
func TestEveryTextOfAResultSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	untrusted := map[string][]string{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		for _, surface := range []core.Surface{core.REST, core.Agent} {
			for _, text := range op.Texts(surface) {
				if text.Voice != core.Ours && text.Voice != core.Untrusted {
					t.Errorf(`%s: %q has the voice %q in its %s result; tag it voice:"ours" or voice:"untrusted"`, op.Info().Name, text.Path, text.Voice, surface)
				}
			}
		}
		untrusted[op.Info().Name] = core.UntrustedPaths(op.Texts(core.Agent))
	}
	want := []string{
		"contact.email", "contact.external_id", "contact.attributes", "contact.topic_preferences[].topic",
		"contact.lists[].key", "contact.lists[].name",
	}
	if got := untrusted["contacts_lookup"]; !slices.Equal(got, want) {
		t.Errorf("contacts_lookup: %v, want %v", got, want)
	}
	if got := untrusted["sending_readiness_check"]; got != nil {
		t.Errorf("sending_readiness_check composes all it says, and is labelled %v", got)
	}
}

// TestEveryReadDeclaresItsCost checks that every read declares a cost and no write does.
// There is no default: an expensive read declared Light would delay the calls of all other
// organizations.
func TestEveryReadDeclaresItsCost(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		if info := op.Info(); (info.Effect == core.Reads) != (info.Cost != core.Undeclared) {
			t.Errorf("%s %s and declares the cost %d: a read is core.Light if it finds its rows by an index and looks at a page of them, else core.Heavy",
				info.Name, info.Effect, info.Cost)
		}
	}
}
