package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestGuideOfPersons runs the commands of the guide in their order, about a contact who has opted
// out. In between, a file with the erased address must be refused, until the address is allowed.
func TestGuideOfPersons(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
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
		g.end()
	})
}

// personsOfGuide runs the guide's commands in a folder.
type personsOfGuide struct {
	*guide
	s shell
}

func newPersonsGuide(t *testing.T, s shell) *personsOfGuide {
	t.Helper()
	g := &personsOfGuide{openGuide(t, "persons.md"), s}
	g.where = s.where
	g.files = map[string]string{"--output": g.folder, "--import-file": g.folder, "--list": s.database.Dir}
	s.writeMasterKey()
	s.mustRun("org", "create", "acme")
	return g
}

// writeMasterKey writes a master key into the data folder, as the first start does.
func (s shell) writeMasterKey() {
	s.t.Helper()
	if err := os.MkdirAll(s.database.Dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.database.Dir, "master.key"), []byte(strings.Repeat("ab", 32)+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
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
