package examples_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/examples"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

func TestExamples(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, e := range examples.All() {
		checked, err := language.Compile(e.Source, examples.Schema())
		if err != nil {
			t.Errorf("%s: %v", e.Key, err)
			continue
		}
		for _, w := range checked.Warnings() {
			t.Errorf("%s:%d: %s", e.Key, w.Line, w.Message)
		}
		if formatted, err := language.Format(e.Source); err != nil || formatted != e.Source {
			t.Errorf("%s is not in canonical spelling, %v:\n%s", e.Key, err, formatted)
		}
		if about := e.About(); !strings.HasSuffix(about, ".") {
			t.Errorf("%s has the description %q", e.Key, about)
		}
		for located := range checked.Tree().All() {
			if s, ok := located.Step.(*language.Send); ok {
				used[s.Template] = true
			}
		}
	}
	for name := range examples.Schema().Templates {
		if !used[name] {
			t.Errorf("no example uses the template %s", name)
		}
	}
}

func TestAllHasEveryFile(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".workflow") {
			files++
		}
	}
	if all := len(examples.All()); all != files {
		t.Errorf("All returns %d of %d examples", all, files)
	}
}
