package browser_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
)

// TestImportOfContacts uploads a file, changes the assignment of a column, and imports the
// rows. It then adds one of the contacts to a list.
func TestImportOfContacts(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		file := filepath.Join(t.TempDir(), "people.csv")
		rows := "Mail;Name;<b>Notes\nada@upload.example;Ada;x\nnobody;Ben;=1+1\n"
		if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		s.openSignedIn(tab, "/dashboard/contacts/import")
		tab.Expect(http.StatusOK, "Import contacts", "No file was imported.")
		tab.ChooseFile("#file", file)
		tab.Submit("form[enctype] button")
		tab.Expect(http.StatusOK, "Assign columns", "people.csv", "ada@upload.example", "<b>Notes", "3 of 3 columns are ignored")
		tab.Submit("form[action$='/columns'] button.primary")
		tab.Expect(http.StatusUnprocessableEntity, "No column is assigned to the address")
		tab.Choose("select[name='column.0']", "email")
		tab.Picture("import-columns")
		tab.Submit("form[action$='/columns'] button.primary")
		tab.ReloadUntil("ready to import")
		tab.Expect(http.StatusOK, "would be created", "Rejected rows begin at line 3.", "ada@upload.example", "Import 1 row")
		tab.Picture("import-checked")
		tab.ExpectReachable()
		tab.Submit("form[action$='/start'] button")
		tab.ReloadUntil("Import another file")
		tab.Expect(http.StatusOK, "created", "Download the rejected rows")
		tab.Picture("import-done")

		tab.Go(s.p.AppURL + "/dashboard/lists/new")
		tab.Fill("#name", "Imported people")
		tab.Submit("form[action$='/lists/new'] button")
		tab.Expect(http.StatusOK, "The list was created.", "imported-people")
		tab.Fill("#email", "ada@upload.example")
		tab.Submit("form[action$='/members/add'] button")
		tab.Expect(http.StatusOK, "The contact is on the list.", "ada@upload.example")
		tab.Picture("list")
	})
}

// TestImportByKeyboard imports a file without a mouse and without scripts: it uploads the
// file, assigns a column, starts the import and reads the rejected rows. Only the choice of
// the file, a window of the system, is not made by keys.
func TestImportByKeyboard(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{NoScript: true})
	file := filepath.Join(t.TempDir(), "night.csv")
	if err := os.WriteFile(file, []byte("Mail,Where\nowl@keys.example,Graz\nnobody,Graz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.openSignedIn(tab, "/dashboard/contacts/import")
	tab.ChooseFile("#file", file)
	tab.TabTo("input file")
	follow(tab, "Upload file")
	tab.Expect(http.StatusOK, "Assign columns", "owl@keys.example")
	tab.TabTo("select column.0")
	tab.Press("Addr") // selects the option that begins with it
	tab.TabTo("select column.1")
	tab.Press("Attribute ci")
	if city := tab.Focused(); !strings.Contains(city, "attributes.city") {
		t.Fatalf("the second column is assigned as %q", city)
	}
	follow(tab, "Check file")
	tab.ReloadUntil("ready to import")
	tab.Expect(http.StatusOK, "First rows", "owl@keys.example", "Rejected rows begin at line 3.")
	follow(tab, "Import 1 row")
	tab.ReloadUntil("Import another file")
	tab.Expect(http.StatusOK, "imported", "created", "rejected", "by you; import started by you")
	tab.TabTo("rejected.csv")
	if rows := tab.Download("a[download]"); !strings.Contains(rows, "\nnobody,Graz,3,") {
		t.Errorf("the rejected rows are %q", rows)
	}
	follow(tab, "Import another file")
	tab.Expect(http.StatusOK, "night.csv")
}
