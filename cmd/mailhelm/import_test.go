package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const peopleFile = "E-mail,external_id,unsubscribe_all\nada@example.com,1,\nbob@example.com,2,true\nno address,3,\n\"caf\xe9@example.com\",4,\neve@example.com\n"

// importContacts runs `mailhelm import contacts --json`. It returns the printed summary,
// and the exit status and output of the program.
func importContacts(t *testing.T, s shell, args ...string) (map[string]any, ran) {
	t.Helper()
	r := runWith(t, nil, append(append([]string{"import", "contacts"}, append(args, "--json")...), s.where...)...)
	var sum map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &sum); err != nil {
		t.Fatalf("%v: %s%s", args, r.stdout, r.stderr)
	}
	return sum, r
}

func TestImportContacts(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) { importPeople(t, newShell(t, postgres).migrate()) })
}

// importPeople imports a file of contacts several times, with different flags, and checks
// the summaries. s is an installation without organizations.
func importPeople(t *testing.T, s shell) {
	t.Helper()
	s.mustRun("org", "create", "acme")
	file := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(file, []byte(peopleFile), 0o600); err != nil {
		t.Fatal(err)
	}
	columns := map[string]any{"E-mail": "email", "external_id": "external_id", "unsubscribe_all": "unsubscribe_all"}
	want := map[string]any{
		"organization": "acme", "dry_run": true, "columns": columns, "rows": 5.0, "created": 2.0, "updated": 0.0,
		"rejected": 3.0, "rejected_lines": []any{4.0, 5.0, 6.0}, "done_before": 0.0,
		"not_mailable": 1.0, "not_mailable_lines": []any{3.0}, "rejected_file": file + ".rejected.csv",
	}
	check := func(what string, args ...string) {
		t.Helper()
		got, r := importContacts(t, s, append([]string{file}, args...)...)
		if diff := cmp.Diff(want, got); diff != "" || r.status != cli.ExitOK {
			t.Errorf("%s: status %d %s\n%s", what, r.status, r.stderr, diff)
		}
	}
	check("dry run", "--dry-run")
	want["dry_run"] = false
	check("first", "--org", "acme")
	want["done_before"] = 3.0
	check("repeated")
	want["done_before"], want["created"], want["updated"] = 0.0, 0.0, 2.0
	check("again", "--again")

	rejected, err := os.ReadFile(file + ".rejected.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(rejected)), "\n")
	if len(lines) != 4 || lines[0] != "E-mail,external_id,unsubscribe_all,rejected_line,rejected_reason" ||
		!strings.HasPrefix(lines[1], "no address,3,,4,validation_failed: email is not an email address") ||
		!strings.Contains(lines[2], "not in UTF-8") || !strings.HasPrefix(lines[3], `eve@example.com,,,6,"must have as many fields`) {
		t.Errorf("rejected:\n%s", rejected)
	}

	// After the user corrects the file of rejected rows, it can be imported like any other
	// file.
	mended := filepath.Join(t.TempDir(), "mended.csv")
	text := lines[0] + "\n" + strings.Replace(lines[1], "no address", "carl@example.com", 1) + "\n"
	if err := os.WriteFile(mended, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if sum, _ := importContacts(t, s, mended); sum["created"] != 1.0 || sum["rejected_file"] != nil {
		t.Errorf("mended: %v", sum)
	}
	table := runWith(t, nil, append([]string{"import", "contacts", file, "--again"}, s.where...)...)
	if table.status != cli.ExitOK || !strings.Contains(table.stdout, "rejected      3 (lines 4, 5, 6)") {
		t.Errorf("table: %d %s%s", table.status, table.stdout, table.stderr)
	}
}

func TestImportRefusals(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	s.mustRun("org", "create", "acme")
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for text, args := range map[string][]string{
		"is empty":                   {write("empty.csv", "")},
		"UTF-16":                     {write("wide.csv", "\xff\xfee\x00")},
		"nor a registered attribute": {write("plan.csv", "email,plan\n")},
		"all 1 rows of":              {write("wrong.csv", "email\nnobody\n")},
		"no such file":               {filepath.Join(dir, "nobody.csv")},
		"is a folder":                {dir},
		"no organization":            {write("some.csv", "email\na@b.example\n"), "--org", "nobody"},
		"no column \"x\" to map":     {write("other.csv", "email\na@b.example\n"), "--map", "x=email"},
		"quotes are closed":          {write("open.csv", "email\n\""+strings.Repeat("a@b.example\n", 200_000))},
	} {
		r := runWith(t, nil, append(append([]string{"import", "contacts"}, args...), s.where...)...)
		if r.status == cli.ExitOK || !strings.Contains(r.stderr, text) {
			t.Errorf("%v: status %d, %s, want %q", args, r.status, r.stderr, text)
		}
	}
}
