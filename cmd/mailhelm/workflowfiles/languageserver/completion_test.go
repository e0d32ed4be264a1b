package languageserver

import (
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/workflowfiles/names"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/language/languagetest"
	"pgregory.net/rapid"
)

// known has the names that the sources of the tests use.
var known = names.Names{
	Attributes: []names.Attribute{
		{Name: "plan", Type: "enum", EnumValues: []string{"free", "pro"}, Description: "What they [pay](http://evil.example)."},
		{Name: "city", Type: "string"},
		{Name: "visits", Type: "number"},
		{Name: "vip", Type: "bool"},
		{Name: "renewal", Type: "datetime"},
	},
	Topics:     []names.Topic{{Name: "news", Default: "OPT_IN", Description: "Monthly."}, {Name: "special offers", Default: "OPT_OUT"}},
	Lists:      []names.Set{{Key: "vip", Members: 3, Description: "Our best."}, {Key: "gone", Status: "archived"}},
	Segments:   []names.Set{{Key: "new-customers", Members: 9, Source: "has attr.plan"}},
	Templates:  []names.Template{{Slug: "welcome", Subject: "Hello"}, {Slug: "tips"}},
	Activities: []string{"purchase", "Order paid"},
}

// labels returns the labels of the completions at an offset.
func labels(text string, offset int) []string {
	var all []string
	for _, i := range completionsAt(text, offset, known) {
		all = append(all, i.Label)
	}
	return all
}

// TestCompletionsOfferEachWord checks for random workflows, in their canonical spelling, that
// each word and name is offered at its place.
func TestCompletionsOfferEachWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree, err := language.Parse(languagetest.Source(t))
		if err != nil {
			t.Fatal(err)
		}
		text := tree.String()
		tokens := tokensOf(text)
		for i, token := range tokens {
			want := text[token.Start:token.End]
			switch {
			case token.Kind == predicate.WordToken && !strings.HasPrefix(want, "9") && token.Text != "am" && token.Text != "pm":
			case token.Kind == predicate.AttributeToken, token.Kind == predicate.ActivityToken:
			case token.Kind == predicate.StringToken && nameAfter(tokens[:i]) != notNamed:
			default:
				continue
			}
			if got := labels(text, token.Start); !slices.ContainsFunc(got, func(label string) bool { return strings.HasPrefix(label, want) }) {
				t.Fatalf("at %q before %q, the completions are %q", text[max(0, token.Start-40):token.Start], want, got)
			}
		}
	})
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	const start = "workflow \"W\" v1 {\n  enter on activity.signup\n  "
	for _, row := range []struct {
		text     string
		has, not []string
	}{
		{"|", []string{"workflow"}, []string{"send"}},
		{"workflow \"W\" |", []string{"v1"}, nil},
		{start + "|", []string{"send", "send window", "exit", "reentry", "wait up to"}, []string{"timeout:", "else"}},
		{start + "send \"welcome\"\n  |", []string{"send", "wait"}, []string{"send window", "reentry"}},
		{start + "send \"w|", []string{`"welcome"`, `"tips"`}, []string{`"news"`, "wait"}},
		{start + "send |", []string{`"welcome"`, "window"}, nil},
		{start + "send \"welcome\" via topic |", []string{`"news"`, `"special offers"`}, nil},
		{start + "if attr.|", []string{"attr.plan", "attr.email"}, []string{"and"}},
		{start + "if attr.plan = |", []string{`"free"`, `"pro"`}, []string{"true"}},
		{start + "if attr.plan in [\"free\", |", []string{`"pro"`}, nil},
		{start + "if attr.vip = |", []string{"true", "false"}, nil},
		{start + "if in list \"|", []string{`"vip"`}, []string{`"gone"`}},
		{start + "if count(|", []string{"open", "activity.purchase", `activity."Order paid"`}, nil},
		{start + "wait up to 3 days until suppressed {\n  |", []string{"timeout:"}, nil},
		{start + "if suppressed {\n  } |", []string{"else"}, nil},
		{start + "wait 3 |", []string{"days", "weeks"}, nil},
		{start + "enroll existing |", []string{"since"}, nil},
	} {
		offset := strings.IndexByte(row.text, '|')
		got := labels(strings.Replace(row.text, "|", "", 1), offset)
		for _, want := range row.has {
			if !slices.Contains(got, want) {
				t.Errorf("%q lacks %s: %q", row.text, want, got)
			}
		}
		for _, unwanted := range row.not {
			if slices.Contains(got, unwanted) {
				t.Errorf("%q has %s", row.text, unwanted)
			}
		}
	}
}

// TestCompletionReplacesTheWord checks that a completion replaces the whole word or string.
func TestCompletionReplacesTheWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"workflow \"é😀\" v1 {\n  wa|it": "workflow \"é😀\" v1 {\n  wait",
		"send \"wel|":                   "send \"welcome\"",
		"send \"we|lco\" transactional": "send \"welcome\" transactional",
		"set attr.pl|an = \"pro\"":      "set attr.plan = \"pro\"",
	} {
		offset := strings.IndexByte(text, '|')
		text = strings.Replace(text, "|", "", 1)
		found := false
		for _, i := range completionsAt(text, offset, known) {
			edited := text[:offsetAt(text, i.TextEdit.Range.Start)] + i.TextEdit.NewText + text[offsetAt(text, i.TextEdit.Range.End):]
			found = found || edited == want
		}
		if !found {
			t.Errorf("%q is never completed to %q", text, want)
		}
	}
}
