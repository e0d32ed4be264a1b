package contactimport_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestFileWithoutItsEndFails deletes the end of a stored file, or all of it, before the check
// and before the import. The run must not take the end of what is stored for the end of the
// file, and must not blame the file.
func TestFileWithoutItsEndFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	firstRows := people[:strings.Index(people, "nobody")]
	for name, c := range map[string]struct {
		rest      string
		importing bool
	}{
		"check":          {firstRows, false},
		"check, empty":   {"", false},
		"check, in cell": {firstRows + `"ben`, false},
		"import":         {firstRows, true},
	} {
		up := d.receive(t, people)
		if c.importing {
			up = d.checked(t, people)
		}
		err := d.Store.DeleteChunks(t.Context(), d.Org.ID, up.ID, contactupload.FileChunk)
		if c.rest != "" {
			err = errors.Join(err, d.Store.WriteChunk(t.Context(), d.Org.ID, up.ID, contactupload.FileChunk, 0, []byte(c.rest)))
		}
		if c.importing {
			err = errors.Join(err, d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run))
		} else {
			err = errors.Join(err, d.StartCheck(t.Context(), d.Org.ID, up.ID, up.Settings))
		}
		if err != nil {
			t.Fatal(err)
		}
		up, err = d.work(t, up.ID)
		if err != nil || up.Status != contactupload.Failed || !strings.Contains(up.Problem, "stored file is missing") {
			t.Errorf("%s: %s with %q, %v", name, up.Status, up.Problem, err)
		}
		if err := d.Discard(t.Context(), d.Org.ID, up.ID); err != nil {
			t.Fatal(err)
		}
	}
}
