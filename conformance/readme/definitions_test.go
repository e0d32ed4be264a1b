package readme

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// checkDefinitions runs the commands in the guide about definitions in a folder, and with them the script
// of its workflow of GitHub Actions, for a pull request and for a push. The workflow must call the script
// as the guide does.
func (d *demo) checkDefinitions(t *testing.T) {
	t.Helper()
	const script = "sh .github/definitions.sh definitions"
	d.checkGuide(t, "definitions-in-a-folder", [][]string{
		{" files created, 0 replaced, 0 unchanged\n", "mailhelm.json\n"},
		{"names not checked\n", "lists\n  ~ newsletter  definitions/mailhelm.json\n", "Plan: 0 to create, 1 to update, ", "exit status 2\n"},
		{"Applied: 1 updated.\n", "The folder and the organization are equal.\n"},
		{"lists\n  - app-testers  (archive)\n", "exit status 2\n"},
		{""},
		{"  ~ newsletter", "  - app-testers", "\nApplied: 1 updated, 1 archived.\n", "```\nlists\n"},
	})
	if text := d.guide(t, "definitions-in-a-folder"); !strings.Contains(text, "GITHUB_EVENT_NAME=push "+script) {
		t.Errorf("the guide does not call the script as %s", script)
	}
	content, err := os.ReadFile(filepath.Join(d.dir, ".github/workflows/definitions.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		On   map[string]any
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(content, &workflow); err != nil {
		t.Fatal(err)
	}
	job := workflow.Jobs["definitions"]
	if calls := slices.ContainsFunc(job.Steps, func(s struct{ Uses, Run string }) bool { return s.Run == script }); !calls || len(workflow.On) != 2 || job.Env["MAILHELM_API_KEY"] != "${{ secrets.MAILHELM_API_KEY }}" {
		t.Errorf("%s\n%+v", content, workflow)
	}
}
