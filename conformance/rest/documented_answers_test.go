package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
)

// answersFolder has the stored answers, one file for each operation.
const answersFolder = "../../rest/docs/reference/examples/answers/"

// compare compares the form of an answer with that of the stored one. With -update it
// stores the answer instead, if the form differs.
func (d *documentedCalls) compare(t *testing.T, op core.Operation, got examples.Answer) {
	t.Helper()
	name := op.Info().Name
	stored, err := examples.Of(name)
	if err != nil {
		t.Fatal(err)
	}
	difference := ""
	if got.Status != stored.Status {
		difference = fmt.Sprintf("status %d, stored %d", got.Status, stored.Status)
	}
	for _, pair := range [][2]json.RawMessage{{stored.Body, got.Body}, {stored.Result, got.Result}} {
		if len(pair[0]) == 0 && len(pair[1]) > 0 {
			difference = "an answer is not stored"
		}
		if difference == "" {
			difference = formDifference("", parsed(t, pair[0]), parsed(t, pair[1]))
		}
	}
	if difference == "" {
		return
	}
	if !*update {
		t.Errorf("%s: %s; run the test with -update if the change is meant", name, difference)
		return
	}
	if err := goldentest.Write(answersFolder+name+".json", d.stored(t, got), 0o600); err != nil {
		t.Fatal(err)
	}
}

func parsed(t *testing.T, text json.RawMessage) any {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return value
}

// formDifference describes the first difference between the forms of two JSON values: their
// types and the names of members. It returns "" if there is none. null has any form, and so
// have the items of a list that is stored as empty.
func formDifference(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %T, stored is an object", path, got)
		}
		for name := range g {
			if _, known := w[name]; !known {
				return path + "." + name + " is not in the stored answer"
			}
		}
		for name, value := range w {
			if _, there := g[name]; !there {
				return path + "." + name + " is only in the stored answer"
			}
			if !openObjects[name] {
				if found := formDifference(path+"."+name, value, g[name]); found != "" {
					return found
				}
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return fmt.Sprintf("%s is %T, stored is a list", path, got)
		}
		switch {
		case len(w) > 0 && len(g) == 0:
			return path + " is empty, stored has items"
		case len(w) > 0:
			return formDifference(path+"[0]", w[0], g[0])
		}
	default:
		if want != nil && got != nil && fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
			return fmt.Sprintf("%s is %T, stored is %T", path, got, want)
		}
	}
	return ""
}

// openObjects are objects whose members are data, such as the attributes of a contact.
var openObjects = map[string]bool{"attributes": true, "properties": true}

var uuidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// stored returns an answer as the file that the documentation reads. The ids of the product
// are replaced by the documented ones, or by numbered ids.
func (d *documentedCalls) stored(t *testing.T, answer examples.Answer) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(answer); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for documented, id := range d.ids {
		text = strings.ReplaceAll(text, id, documented)
	}
	for id, documented := range d.ended {
		text = strings.ReplaceAll(text, id, documented)
	}
	text = strings.ReplaceAll(text, d.BaseURL, "https://api.example.com")
	known := map[string]string{}
	text = uuidForm.ReplaceAllStringFunc(text, func(id string) string {
		if _, documented := d.ids[id]; documented {
			return id
		}
		if known[id] == "" {
			known[id] = fmt.Sprintf("0198c7a2-5d3e-7a01-8b00-%012x", 0x2f61c0d4b201+len(known))
		}
		return known[id]
	})
	return []byte(text)
}

// TestDocumentedExamplesFitTheSchemas checks the example of each operation: its arguments
// fit the input schema of each surface, and the stored answers fit the output schemas.
func TestDocumentedExamplesFitTheSchemas(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		if info.Example == "" && len(op.Input(core.REST).Members()) > 0 {
			t.Errorf("%s has arguments and no example", info.Name)
		}
		stored, err := examples.Of(info.Name)
		if err != nil || stored.Status == 0 && len(stored.Result) == 0 {
			t.Errorf("%s has no stored answer (%v)", info.Name, err)
		}
		for surface, answer := range map[core.Surface]json.RawMessage{core.REST: stored.Body, core.Agent: stored.Result} {
			if example := info.ExampleOn(surface); example != "" {
				if err := op.Input(surface).Check([]byte(example)); err != nil {
					t.Errorf("%s: example on %s: %v", info.Name, surface, err)
				}
			}
			if len(answer) == 0 {
				continue
			}
			if err := op.Output(surface).Check(answer); err != nil {
				t.Errorf("%s: stored answer on %s: %v", info.Name, surface, err)
			}
		}
	}
}
