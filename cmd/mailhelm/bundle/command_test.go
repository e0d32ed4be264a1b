package bundle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/bundle"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// result is what a command did.
type result struct {
	status    int
	out, errs string
}

// run runs a command for the API at an address, "" for none.
func run(t *testing.T, api string, arguments ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	grammar := &struct {
		Bundle bundle.Command `cmd:""`
	}{}
	status := cli.Run(t.Context(), grammar, append([]string{"bundle"}, arguments...), cli.Surroundings{
		Stdin: strings.NewReader("yes\n"), Stdout: &out, Stderr: &errs, Lookup: func(name string) (string, bool) {
			found, ok := map[string]string{"MAILHELM_API_KEY": "sk_live_x", "MAILHELM_SERVER": api}[name]
			return found, ok && found != ""
		},
	})
	return result{status, out.String(), errs.String()}
}

// expect fails the test unless a command ended with a status, and its output has the texts.
func (r result) expect(t *testing.T, status int, texts ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d", r.status, status)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.errs, text) {
			t.Errorf("the output lacks %q", text)
		}
	}
	if t.Failed() {
		t.Fatalf("%s%s", r.out, r.errs)
	}
}

// folderOf returns the path of a new folder that init has filled. Changes replace contents of files;
// "" removes a file.
func folderOf(t *testing.T, changes map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "definitions")
	run(t, "", "init", folder).expect(t, cli.ExitOK, "files written")
	for name, content := range changes {
		write(t, folder, name, content)
	}
	return folder
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil && content == "" {
		err = os.Remove(path)
	} else if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestInit checks that the example is valid without a warning, and overwrites nothing.
func TestInit(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, nil)
	got := run(t, "", "validate", folder)
	got.expect(t, cli.ExitOK, folder+": valid, 7 definitions; names not checked\n")
	if strings.Count(got.out, "\n") != 1 {
		t.Errorf("the example has warnings: %s", got.out)
	}
	write(t, folder, "mailhelm.json", "{}")
	run(t, "", "init", folder).expect(t, cli.ExitFailure, "nothing was written", `"README.md"`)
	if read(t, folder, "mailhelm.json") != "{}" {
		t.Error("init overwrites a file")
	}
	below := t.TempDir()
	write(t, below, ".git/config", "x")
	run(t, "", "init", below).expect(t, cli.ExitOK)
	if !strings.Contains(read(t, below, "README.md"), "mailhelm bundle plan") {
		t.Error("the README has no commands")
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes map[string]string
		want    []string
	}{
		"predicate":     {map[string]string{"audience/new-customers.predicate": "attr.plan =\n= 1"}, []string{"audience/new-customers.predicate:2:1: error: "}},
		"template":      {map[string]string{"templates/welcome.hbs": "<p>\n{{#if x}}</p>"}, []string{"templates/welcome.hbs:2:1: error: "}},
		"plain text":    {map[string]string{"templates/welcome.txt": "{{#if x}}"}, []string{`templates/welcome.hbs: error: In the plain text of the template "welcome", line 1`}},
		"workflow":      {map[string]string{"workflows/welcome.flow": "workflow \"W\" v1 {\n  entr on segment \"a\"\n}\n"}, []string{"workflows/welcome.flow:2:3: error: "}},
		"test data":     {map[string]string{"fixtures/welcome/list.json": `[{"first_name": "Ada"}]`}, []string{"fixtures/welcome/list.json:1:2: error: ", "_name"}},
		"manifest":      {map[string]string{"mailhelm.json": "{\n  \"lists\": []\n}"}, []string{"mailhelm.json:2:12: error: "}},
		"no JSON":       {map[string]string{"mailhelm.json": "{"}, []string{"mailhelm.json:1:2: error: "}},
		"missing file":  {map[string]string{"templates/welcome.txt": ""}, []string{"mailhelm.json:", "error: There is no file"}},
		"several":       {map[string]string{"templates/welcome.hbs": "{{#if", "audience/new-customers.predicate": "and"}, []string{"welcome.hbs:1:1: error", "customers.predicate:1:1: error"}},
		"no bundle":     {map[string]string{"mailhelm.json": ""}, []string{"has no file mailhelm.json", "mailhelm bundle init"}},
		"upper case":    {map[string]string{"Templates/a.hbs": "a"}, []string{"upper and lower case"}},
		"a large image": {map[string]string{"static/a.png": strings.Repeat("x", 5<<20+1)}, []string{`"static/a.png"`, "larger than"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := folderOf(t, test.changes)
			run(t, "", "validate", folder).expect(t, cli.ExitFailure, test.want...)
			if name == "template" {
				run(t, "", "validate", folder, "--json").expect(t, cli.ExitFailure, `"valid": false`, `"code": "invalid_template"`, `"line": 2`)
			}
		})
	}
	folder := folderOf(t, map[string]string{"templates/old.hbs": "old"})
	run(t, "", "validate", folder).expect(t, cli.ExitOK, "old.hbs: warning: The manifest does not name this file.", "valid, 7 definitions")
	if err := os.Symlink("/etc", filepath.Join(folder, "static")); err != nil {
		t.Fatal(err)
	}
	run(t, "", "validate", folder).expect(t, cli.ExitFailure, `has the file "static", which is a symbolic link`)
	run(t, "", "validate", filepath.Join(folder, "none")).expect(t, cli.ExitFailure, "no such file")
}
