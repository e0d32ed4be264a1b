package handlebars_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/handlebars"
)

func seeds(f *testing.F) {
	f.Helper()
	for _, fact := range facts {
		f.Add(fact.source, fact.data)
	}
	for _, source := range corpus {
		f.Add(source, `{"x":"\"><b>","z":["javascript:a",{"b":[]}]}`)
	}
	for _, source := range []string{"{{{{", "}}", "{{#}}", "{{/}}", "{{!", "{{!--", "{{#if a}}{{else}}{{else if b}}{{/each}}", "\\{{\\\\{{", "{{a.[}}", "{{'\\'}}", "<!--[if a]>--!>{{a}}"} {
		f.Add(source, `{}`)
	}
}

// FuzzParse checks that every fault has a position in the source and a short message.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, source, _ string) {
		for _, mode := range []handlebars.Mode{handlebars.HTML, handlebars.Text} {
			_, err := handlebars.Parse(source, mode)
			if err == nil {
				continue
			}
			var faults handlebars.Faults
			if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > handlebars.MaxFaults {
				t.Fatalf("%q: %v", source, err)
			}
			lines := strings.Split(source, "\n")
			for _, fault := range faults {
				if fault.Line < 1 || fault.Line > len(lines) || fault.Column < 1 || fault.Column > utf8.RuneCountInString(lines[fault.Line-1])+1 {
					t.Fatalf("%q: the fault is at line %d, column %d", source, fault.Line, fault.Column)
				}
				if len(fault.Message) > 400 || !utf8.ValidString(fault.Message) || fault.Code == "" {
					t.Fatalf("%q: the fault is %+v", source, fault)
				}
			}
		}
	})
}

// FuzzExecute checks that an execution ends within its limits, and leaves what dst had.
func FuzzExecute(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, source, text string) {
		var data map[string]any
		if json.Unmarshal([]byte(text), &data) != nil {
			data = map[string]any{"a": text, "x": []any{text, nil, map[string]any{"b": text}}}
		}
		template, err := handlebars.Parse(source, handlebars.HTML)
		if err != nil {
			return
		}
		const before, limit = "before", 10_000
		out, err := template.Execute([]byte(before), data, handlebars.Limits{Output: limit, Steps: limit})
		if !strings.HasPrefix(string(out), before) || len(out) > len(before)+limit || err != nil && string(out) != before {
			t.Fatalf("%q with %q: %d bytes, %v", source, text, len(out), err)
		}
		if err == nil {
			checkSlots(t, template, data, string(out[len(before):]))
		}
		template.Missing(data)
		for _, v := range template.Variables() {
			if v.Name == "" {
				t.Fatalf("%q has a variable without a name", source)
			}
		}
	})
}
