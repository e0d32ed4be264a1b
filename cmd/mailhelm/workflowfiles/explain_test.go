package workflowfiles_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	const want = `Welcome

  Contacts enter at the activity "signup".
  Only contacts enter for whom that happens after the activation.
  A contact enters once.

  0  Send the template "welcome".
  1  Wait 3 days.
`
	if r := run(t, tidy, "explain", "-"); r != (ran{stdout: want}) {
		t.Errorf("got %+v", r)
	}
	svg := filepath.Join(t.TempDir(), "welcome.svg")
	var got struct {
		Name     string
		Settings []string
		Steps    []struct{ Path, Text string }
		SVGFile  string `json:"svg_file"`
		Errors   []struct{ Line int }
	}
	r := run(t, tidy, "explain", "-", "--json", "--svg", svg)
	r.decode(t, &got)
	if r.status != cli.ExitOK || got.Name != "Welcome" || len(got.Settings) != 3 || len(got.Steps) != 2 || got.Steps[1].Path != "1" || got.SVGFile != svg {
		t.Errorf("got %+v", r)
	}
	if text := content(t, svg); !strings.HasPrefix(text, "<svg ") || !strings.Contains(text, `data-path="1"`) {
		t.Errorf("the drawing is %s", text)
	}
	if r := run(t, faulty, "explain", "-"); r.status != cli.ExitFailure || r.stdout != "" || strings.Count(r.stderr, "-:") != 2 {
		t.Errorf("faults give %+v", r)
	}
	got.Name, got.SVGFile = "", ""
	r = run(t, faulty, "explain", "-", "--json", "--svg", svg)
	r.decode(t, &got)
	if r.status != cli.ExitFailure || len(got.Errors) != 2 || got.Name != "" || got.SVGFile != "" {
		t.Errorf("faults give %+v", r)
	}
}
