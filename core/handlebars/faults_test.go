package handlebars_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/handlebars"
)

// faultsOf returns the faults of a source as "line:column code message".
func faultsOf(t *testing.T, source string, mode handlebars.Mode) []string {
	t.Helper()
	template, err := handlebars.Parse(source, mode)
	if err == nil {
		return nil
	}
	var faults handlebars.Faults
	if !errors.As(err, &faults) || template != nil {
		t.Fatalf("%q: %v is no Faults, or there is a template too", source, err)
	}
	var found []string
	for _, f := range faults {
		found = append(found, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Code, f.Message))
	}
	return found
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		"a\né {{}}":                 {"2:3 syntax the tag is empty; expected a name"},
		"{{name":                    {"1:1 syntax the tag is not closed; expected `}}`"},
		"{{a {{b}} {{{c":            {"1:1 syntax the tag is not closed; expected `}}`", "1:11 syntax the tag is not closed; expected `}}}`"},
		"{{{a}} {{b}}":              {"1:5 syntax `}` is not allowed in a tag; expected a name or `}}}`"},
		"{{a}}}":                    {"1:4 syntax the tag is closed by more braces than it begins with; expected `}}`, and a space before a brace that is text"},
		"{{a ! b}}":                 {"1:5 syntax `!` is not allowed in a tag; expected a name or `}}`"},
		"{{! a":                     {"1:1 syntax the comment is not closed; expected `}}`"},
		"{{!-- a }}":                {"1:1 syntax the comment is not closed; expected `--}}`"},
		"{{a.b..c}}":                {"1:3 syntax the path `a.b..c` is malformed: expected a name"},
		"{{a.this}}":                {"1:3 syntax the path `a.this` is malformed: this, . and .. can only be at the beginning; a field of this name is written in brackets"},
		"{{a[b]}}":                  {"1:3 syntax the path `a[b]` is malformed: expected . or / between names"},
		"{{> }}":                    {"1:1 syntax a partial has one name: `{{> name}}`"},
		"{{#}}":                     {"1:1 syntax the block has no name; expected if, unless, each or with"},
		"{{#if}}{{/if}}":            {"1:1 syntax the block `if` takes one value, such as `{{#if name}}`"},
		"{{#if a}}":                 {"1:1 syntax the block `if` is not closed; expected `{{/if}}`"},
		"{{/if}}":                   {"1:1 syntax `{{/if}}` closes a block that is not open"},
		"{{else}}":                  {"1:1 syntax `else` is outside of a block"},
		"{{asset a}}":               {"1:1 syntax the helper `asset` takes one path in quotes: `{{asset \"logo.png\"}}`; write `{{this.asset}}` for a variable of this name"},
		"{{@index.a}}":              {"1:3 syntax `@index` has no members"},
		"{{upper name}}":            {"1:3 unknown_helper there is no helper `upper`; a value is one name, such as `{{name}}`"},
		"{{assets \"a\"}}":          {"1:3 unknown_helper there is no helper `assets`; a value is one name, such as `{{name}}`; did you mean asset?"},
		"{{if a}}":                  {"1:3 unknown_helper `if` is a block: write `{{#if ...}}`, or `{{this.if}}` for a variable of this name"},
		"{{lookup}}":                {"1:3 unknown_helper templates cannot use the helper `lookup`; write `{{this.lookup}}` for a variable of this name"},
		"{{#ecah a}}{{b}}{{/ecah}}": {"1:4 unknown_helper there is no block `ecah`; expected if, unless, each or with; did you mean each?"},
		"{{@frist}}":                {"1:3 unsupported there is no `@frist`; expected @index, @first, @last, @key or @root; did you mean @first?"},
		"{{12}} {{a.true}}{{true}}": {
			"1:3 unsupported `12` is a literal, which templates cannot use; expected a name, in brackets if it has other characters than a name",
			"1:20 unsupported `true` is a literal, which templates cannot use; expected a name, in brackets if it has other characters than a name",
		},
		"{{#if (a)}}b{{/if}}":              {"1:7 unsupported templates cannot use subexpressions, which are written in parentheses", "1:13 syntax `{{/if}}` closes a block that is not open"},
		"{{a b=c}}":                        {"1:6 unsupported templates cannot use hash arguments, which are written name=value"},
		"{{#each a as |b|}}{{b}}{{/each}}": {"1:14 unsupported templates cannot use block parameters, which are written as |name|; use this and ../", "1:24 syntax `{{/each}}` closes a block that is not open"},
		"{{* a}}":                          {"1:1 unsupported templates cannot use decorators"},
		"{{#*inline \"a\"}}b{{/inline}}":   {"1:1 unsupported templates cannot use decorators and inline partials"},
		"{{#> a}}b{{/a}}":                  {"1:1 unsupported templates cannot use blocks of partials"},
		"{{^a}}b{{/a}}":                    {"1:1 unsupported templates cannot use inverted blocks: write {{#unless name}} or {{else}}"},
		"{{{{a}}}}":                        {"1:1 unsupported templates cannot use raw blocks with four braces"},
		"{{#if a}}{{#each b}}{{/if}}{{/each}}": {
			"1:10 syntax the block `each` is not closed; expected `{{/each}}` before `{{/if}}`",
			"1:28 syntax `{{/each}}` closes a block that is not open",
		},
		"{{#if a}}{{else}}{{else}}{{/if}}": {"1:18 syntax the block `if` has an arm after its `{{else}}`"},
		"\xff":                             {"1:1 syntax the source is not valid UTF-8"},
	} {
		if diff := cmp.Diff(want, faultsOf(t, source, handlebars.HTML)); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
	}
}

// TestLimitsOfASource checks each limit at its value and one above.
func TestLimitsOfASource(t *testing.T) {
	t.Parallel()
	blocks := func(n int) string { return strings.Repeat("{{#if a}}", n) + strings.Repeat("{{/if}}", n) }
	for name, c := range map[string]struct{ allowed, refused, code string }{
		"length": {strings.Repeat("a", handlebars.MaxSource), strings.Repeat("a", handlebars.MaxSource+1), handlebars.CodeTooLong},
		"depth":  {blocks(handlebars.MaxDepth), blocks(handlebars.MaxDepth + 1), handlebars.CodeTooDeep},
		"path": {
			"{{" + strings.Repeat("a.", handlebars.MaxSegments-1) + "a}}",
			"{{" + strings.Repeat("a.", handlebars.MaxSegments) + "a}}", handlebars.CodeTooLong,
		},
	} {
		if found := faultsOf(t, c.allowed, handlebars.HTML); found != nil {
			t.Errorf("%s: %v", name, found)
		}
		if found := faultsOf(t, c.refused, handlebars.HTML); len(found) != 1 || !strings.Contains(found[0], c.code) {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := faultsOf(t, strings.Repeat("{{}}", 100), handlebars.Text); len(found) != handlebars.MaxFaults {
		t.Errorf("%d faults", len(found))
	}
}

// TestBranchesAreNotNested checks that {{else if}} does not count as depth.
func TestBranchesAreNotNested(t *testing.T) {
	t.Parallel()
	source := "{{#if a}}0" + strings.Repeat("{{else if a}}1", 1000) + "{{else}}2{{/if}}"
	if got := render(t, source, handlebars.HTML, nil); got != "2" {
		t.Errorf("%q", got)
	}
}

// TestLongSources parses sources of the maximum length that repeat one construct. Each takes
// milliseconds; the test would run into its time limit if one took quadratic time.
func TestLongSources(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		"{", "}", "{{", "{{{{", "\\{{", "\\\\", "{{a}}", "{{~a~}} ", "{{!-- --", "{{!--", "{{!-- --}}", "{{a.", "{{[", "{{a ", "{{'", "{{else if a}}", "{{#if a}}", "{{#if a}}{{/if}}",
		"{{#if a}}{{else}}{{/if}}\n", "{{/if}}", " \n", "<", "<!--", "<a href=", "<a b='{{a}}'>", "<!--[if", "<style>", "</", "--", "{{\n",
	} {
		source := strings.Repeat(part, (handlebars.MaxSource-100)/len(part))
		if strings.HasPrefix(part, "{{else") {
			source = "{{#if a}}" + source + "{{/if}}"
		}
		template, err := handlebars.Parse(source, handlebars.HTML)
		if err == nil {
			_, err = template.Execute(nil, nil, handlebars.Limits{})
		}
		var faults handlebars.Faults
		if err != nil && !errors.As(err, &faults) {
			t.Errorf("%q: %v", part, err)
		}
	}
}
