package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// personsGuide is the guide whose commands the test runs.
const personsGuide = "../../rest/docs/guides/persons.md"

// TestGuideOfPersons runs the commands of the guide in their order, about a contact who has opted
// out. In between, a file with the erased address must be refused, until the address is allowed.
func TestGuideOfPersons(t *testing.T) {
	t.Parallel()
	storagetest.EachEngine(t, func(t *testing.T, postgres bool) {
		g := newPersonsGuide(t, newShell(t, postgres).migrate())
		g.imports("ada@example.com,true\nbob@example.com,\n", 2, 0)
		g.run("written")
		g.checkExport()
		g.run("to delete")
		g.run("deleted")
		g.imports("Ada@Example.com,\n", 0, 1)
		g.run("people.csv.rejected.csv")
		if rest := g.read("people.csv.rejected.csv"); rest != "email,rejected_line\nbob@example.com,2\n" {
			t.Errorf("the file of rejected rows has %q", rest)
		}
		g.run("allowed")
		g.imports("ada@example.com,\n", 1, 0)
		g.run("acme")
		if len(g.commands) != 0 {
			t.Errorf("the test does not run the commands %q", g.commands)
		}
	})
}

// personsOfGuide runs the guide's commands in a folder.
type personsOfGuide struct {
	t        *testing.T
	s        shell
	folder   string
	commands []string
}

func newPersonsGuide(t *testing.T, s shell) *personsOfGuide {
	t.Helper()
	guide, err := os.ReadFile(personsGuide)
	if err != nil {
		t.Fatal(err)
	}
	g := &personsOfGuide{t: t, s: s, folder: t.TempDir()}
	g.commands = strings.Split(strings.TrimSpace(strings.Join(blocks(string(guide), "sh"), "")), "\n")
	if err := os.MkdirAll(s.database.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.database.Dir, "master.key"), []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.mustRun("org", "create", "acme")
	return g
}

// run runs the next command of the guide, which must print a text.
func (g *personsOfGuide) run(prints string) {
	g.t.Helper()
	command := g.commands[0]
	g.commands = g.commands[1:]
	args := strings.Fields(strings.TrimPrefix(command, "mailhelm "))
	for i := range args[:len(args)-1] {
		switch args[i] {
		case "--output", "--import-file":
			args[i+1] = filepath.Join(g.folder, args[i+1])
		case "--list":
			args[i+1] = filepath.Join(g.s.database.Dir, args[i+1])
		}
	}
	r := runWith(g.t, nil, append(args, g.s.where...)...)
	if r.status != 0 || !strings.Contains(r.stdout, prints) {
		g.t.Fatalf("%s: status %d\n%s%s", command, r.status, r.stdout, r.stderr)
	}
}

// imports imports rows, and checks how many were created and rejected.
func (g *personsOfGuide) imports(rows string, created, rejected float64) {
	g.t.Helper()
	g.write("people.csv", "email,unsubscribe_all\n"+rows)
	got, r := importContacts(g.t, g.s, filepath.Join(g.folder, "people.csv"), "--again")
	if got["created"] != created || got["rejected"] != rejected {
		g.t.Fatalf("created %v and rejected %v, want %v and %v: %s", got["created"], got["rejected"], created, rejected, r.stderr)
	}
	g.write("people.csv.rejected.csv", "email,rejected_line\nada@example.com,1\nbob@example.com,2\n")
}

// checkExport checks that both files have the contact, and no one else.
func (g *personsOfGuide) checkExport() {
	g.t.Helper()
	var export privacy.Export
	if err := json.Unmarshal([]byte(g.read("ada.json")), &export); err != nil || export.Format != privacy.ExportFormat || len(export.Tables) == 0 {
		g.t.Errorf("ada.json has %+v, %v", export, err)
	}
	for _, name := range []string{"ada.json", "ada.html"} {
		if content := g.read(name); !strings.Contains(content, "ada@example.com") || strings.Contains(content, "bob@") {
			g.t.Errorf("%s has %s", name, content)
		}
	}
}

func (g *personsOfGuide) read(name string) string {
	g.t.Helper()
	content, err := os.ReadFile(filepath.Join(g.folder, name))
	if err != nil {
		g.t.Fatal(err)
	}
	return string(content)
}

func (g *personsOfGuide) write(name, content string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.folder, name), []byte(content), 0o600); err != nil {
		g.t.Fatal(err)
	}
}
