package contactimport_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// rowsOfPart is how many rows of parted a part has. They fill its 4 MB.
const rowsOfPart = 6

// parted returns a file of a number of parts. The addresses of part 2 are p2-0@example.com to
// p2-5@example.com.
func parted(parts int) string {
	var file strings.Builder
	file.WriteString("email,notes\n")
	for part := 1; part <= parts; part++ {
		for row := range rowsOfPart {
			fmt.Fprintf(&file, "p%d-%d@example.com,%s\n", part, row, strings.Repeat("x", 750<<10))
		}
	}
	return file.String()
}

// partOf returns the number of a part of parted.
func partOf(t *testing.T, rows []json.RawMessage) int {
	t.Helper()
	var first struct{ Email string }
	var part int
	if err := json.Unmarshal(rows[0], &first); err != nil {
		t.Error(err)
	}
	if _, err := fmt.Sscanf(first.Email, "p%d-0@", &part); err != nil || len(rows) != rowsOfPart {
		t.Errorf("a part begins with %q and has %d rows", first.Email, len(rows))
	}
	return part
}

// pairedDesk returns a desk that stores two parts at the same time, and an upload whose import has
// begun.
func pairedDesk(t *testing.T, db *storage.DB, parts int) (*desk, contactupload.Upload) {
	t.Helper()
	d := newDesk(t, db)
	d.config.PartsAtOnce = 2
	d.Uploads = contactimport.NewUploads(d.config)
	up := d.checked(t, parted(parts))
	if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
		t.Fatal(err)
	}
	return d, up
}

// wantStopped checks that an import is stopped, and that it counts the contacts which it has stored.
func wantStopped(t *testing.T, d *desk, up contactupload.Upload, parts int) {
	t.Helper()
	stored, err := d.DB.ContactCount().CountContacts(t.Context(), d.Org.ID)
	if want := parts * rowsOfPart; err != nil || up.Status != contactupload.Stopped || stored != want || up.Import.Created != want || up.Import.Rows != want {
		t.Errorf("%s with %+v and %d contacts, %v; want %d", up.Status, up.Import.Summary, stored, err, want)
	}
}

// TestStoppedImportCountsThePartsThatHaveBegun stops an import of three parts while the first two are
// being stored. Both must be counted, and the third may not be stored.
func TestStoppedImportCountsThePartsThatHaveBegun(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d, up := pairedDesk(t, db, 3)
		stopped := make(chan struct{})
		d.cutPart = func(rows []json.RawMessage) error {
			if partOf(t, rows) == 1 {
				<-stopped
				return nil
			}
			defer close(stopped) // the second part; a third would panic
			return d.Stop(t.Context(), d.Org.ID, up.ID)
		}
		up, err := d.work(t, up.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantStopped(t, d, up, 2)
	})
}

// TestStoppedImportCountsPartsOfAKilledRun kills a process that has stored the parts 1 and 3, and not
// 2, and stops the import. Another process must count both and store nothing.
func TestStoppedImportCountsPartsOfAKilledRun(t *testing.T) {
	t.Parallel()
	storagetest.Once(t, func(t *testing.T, db *storage.DB) {
		d, up := pairedDesk(t, db, 3)
		third := make(chan struct{})
		d.cutPart = func(rows []json.RawMessage) error {
			if partOf(t, rows) == 2 {
				<-third
				return errors.New("killed")
			}
			return nil
		}
		d.partStored = func(rows []json.RawMessage) {
			if partOf(t, rows) == 3 {
				close(third)
			}
		}
		if _, err := d.work(t, up.ID); err == nil {
			t.Fatal("the process was not killed")
		}
		if err := d.Stop(t.Context(), d.Org.ID, up.ID); err != nil {
			t.Fatal(err)
		}
		d.cutPart, d.partStored = nil, nil
		d.restart("second")
		if err := d.Worker().Work(t.Context(), contactimport.UploadArgs{}); err != nil {
			t.Fatal(err)
		}
		up, err := d.Upload(t.Context(), d.Org.ID, up.ID)
		if err != nil {
			t.Fatal(err)
		}
		wantStopped(t, d, up, 2)
	})
}
