package bundles

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/bundle"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// command runs `mailhelm bundle` for a product, and fails the test unless it ends with the status and its
// output has the texts.
func command(t *testing.T, p *product.Product, key string, status int, texts []string, arguments ...string) string {
	t.Helper()
	var out bytes.Buffer
	grammar := &struct {
		Bundle bundle.Command `cmd:""`
	}{}
	got := cli.Run(t.Context(), grammar, append([]string{"bundle"}, arguments...), cli.Surroundings{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Lookup: func(name string) (string, bool) {
			found, ok := map[string]string{"MAILHELM_API_KEY": key, "MAILHELM_SERVER": p.BaseURL}[name]
			return found, ok
		},
	})
	if got != status {
		t.Fatalf("%q: status %d, want %d:\n%s", arguments, got, status, out.String())
	}
	for _, text := range texts {
		if !strings.Contains(out.String(), text) {
			t.Fatalf("%q: the output lacks %q:\n%s", arguments, text, out.String())
		}
	}
	return out.String()
}

// replace replaces a text in a file.
func replace(t *testing.T, file, before, after string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(content), before) {
		t.Fatalf("%v: %s", err, content)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(content), before, after)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCommands keeps the definitions of an organization in a folder: the example of `init` is planned,
// applied, exported, changed and refused.
func TestCommands(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	key, folder := p.Other.Live.APIKey, filepath.Join(t.TempDir(), "definitions")
	do := func(status int, texts []string, arguments ...string) string {
		t.Helper()
		return command(t, p, key, status, texts, arguments...)
	}
	do(0, nil, "init", folder)
	do(0, []string{"valid"}, "validate", folder)
	do(2, []string{"  + new-customers  " + folder + "/audience/new-customers.predicate\n", "  + welcome  " + folder + "/workflows/welcome.flow\n", " to create, "}, "plan", folder)
	do(0, []string{"\nApplied: "}, "apply", folder, "--yes")
	if text := do(0, nil, "plan", folder); text != "No changes. The organization has the definitions of the folder.\n" {
		t.Errorf("a plan after it was applied:\n%s", text)
	}
	// The organization has a topic that the folder leaves out.
	if text := do(2, []string{`+    "other-news": {`}, "diff", folder); strings.Count(text, "\n-") != 1 || strings.Count(text, "\n+") != 5 {
		t.Errorf("differs after it was applied:\n%s", text)
	}

	replace(t, filepath.Join(folder, "templates/welcome.hbs"), "Thank you", "Thanks")
	do(2, []string{"-<p>Thanks for your first order.", "+<p>Thank you for your first order."}, "diff", folder)
	do(2, []string{"  ~ welcome  " + folder + "/templates/welcome.hbs\n", "Plan: 0 to create, 1 to update, 6 unchanged.\n"}, "plan", folder)
	do(0, []string{"Applied: 1 updated.\n"}, "apply", folder, "--yes")

	predicate := filepath.Join(folder, "audience/new-customers.predicate")
	replace(t, predicate, "exists(activity.purchase within 14d)", "attr.shoe_size > 3")
	do(1, []string{"  ! new-customers", predicate + ":1:1: error: ", "shoe_size", "cannot be applied"}, "apply", folder, "--yes")

	exported := filepath.Join(t.TempDir(), "exported")
	do(0, []string{" files created"}, "export", exported)
	do(0, []string{"No changes."}, "plan", exported, "--prune")
	replace(t, filepath.Join(exported, "mailhelm.json"), "Newsletter", "Letters")
	do(1, []string{"nothing was written", "mailhelm.json"}, "export", exported)
	do(2, []string{`-      "name": "Letters"`, `+      "name": "Newsletter"`}, "diff", exported)
	do(0, []string{"1 replaced"}, "export", exported, "--force")
	do(0, nil, "diff", exported)

	command(t, p, "sk_live_wrong", 1, []string{"does not accept the API key"}, "plan", folder)
}
