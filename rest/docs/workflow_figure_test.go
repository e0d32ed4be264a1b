package docs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// TestGoldenWorkflowFigure compares the drawing in the guide about workflow files with the
// workflow in it.
func TestGoldenWorkflowFigure(t *testing.T) {
	t.Parallel()
	const figure = "guides/figures/workflow.svg"
	guide, err := os.ReadFile("guides/workflow-files.md")
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(guide), "<<'END'\n")
	source, _, _ = strings.Cut(source, "\nEND\n")
	tree, err := language.Parse(strings.ReplaceAll(source, "gide", "guide"))
	if err != nil {
		t.Fatal(err)
	}
	drawing := diagram.Draw(tree, diagram.Options{NoStyle: true})
	// The guide has its own label.
	start, end := strings.Index(drawing, ` role="img"`), strings.Index(drawing, ">")
	want := drawing[:start] + drawing[end:]
	if *update {
		if err := goldentest.Write(figure, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(figure)
	if err != nil || string(got) != want {
		t.Errorf("%v, or %s differs from the workflow: run the test with -update", err, figure)
	}
}

// TestStylesheetHasDrawings checks that the stylesheet of the pages has the colours of
// drawings, which pages may not contain themselves.
func TestStylesheetHasDrawings(t *testing.T) {
	t.Parallel()
	h := newDocs(t, "https://app.test/docs")
	page := get(h, "/docs/guides/workflow-files").Body.String()
	if !strings.Contains(page, `class="workflow-diagram"`) || strings.Contains(page, "<style") {
		t.Error("the guide has no drawing, or a stylesheet in it")
	}
	if !strings.Contains(get(h, "/docs/style.css").Body.String(), diagram.Stylesheet) {
		t.Error("the stylesheet lacks the colours of drawings")
	}
}
