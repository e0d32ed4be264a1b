package handlebars_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/handlebars"
)

// checkSlots checks that the outputs of the slots between the fixed texts are the output of the
// template.
func checkSlots(t *testing.T, template *handlebars.Template, data map[string]any, want string) {
	t.Helper()
	const before = "before"
	out, ends, err := template.ExecuteSlots([]byte(before), nil, data, handlebars.Limits{})
	fixed := template.Fixed()
	if err != nil || len(ends)+1 != len(fixed) || !strings.HasPrefix(string(out), before) {
		t.Fatalf("%q, %v, %d slots between %d texts", out, err, len(ends), len(fixed))
	}
	var joined strings.Builder
	joined.WriteString(fixed[0])
	begin := len(before)
	for i, end := range ends {
		joined.Write(out[begin:end])
		joined.WriteString(fixed[i+1])
		begin = end
	}
	if joined.String() != want {
		t.Errorf("%q, want %q", joined.String(), want)
	}
}

// TestSlots splits each template of the facts of the language into its slots.
func TestSlots(t *testing.T) {
	t.Parallel()
	for _, fact := range facts {
		template, err := handlebars.Parse(fact.source, handlebars.HTML)
		if err != nil {
			continue // other tests say why
		}
		data := object(t, fact.data)
		out, err := template.Execute(nil, data, handlebars.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		checkSlots(t, template, data, string(out))
	}
	template := parse(t, "<p>{{#if a}}{{b}}{{else}}{{#if b}}1{{else}}2{{/if}}{{/if}}</p>{{a}}{{b}}\n{{#each c}}<b>{{this}}</b>{{/each}}.", handlebars.HTML)
	if fixed := template.Fixed(); strings.Join(fixed, "|") != "<p>|</p>||\n|." {
		t.Errorf("the fixed texts are %q", fixed)
	}
}

// TestSlotsKeepTheLimits exceeds each limit in a slot.
func TestSlotsKeepTheLimits(t *testing.T) {
	t.Parallel()
	template := parse(t, "{{a}}{{a}}", handlebars.Text)
	data := map[string]any{"a": "value"}
	for _, limits := range []handlebars.Limits{{Output: 7}, {Steps: 1}} {
		if out, _, err := template.ExecuteSlots([]byte("x"), nil, data, limits); err == nil || string(out) != "x" {
			t.Errorf("%+v: %q, %v", limits, out, err)
		}
	}
}
