package contactimport_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestImportOfAnEndedProcessContinuesAtOnce ends an import during its first part. While its
// process counts as running, no other process continues the import. Afterwards another does,
// at the same time by the clock, although the claim of the first has not ended.
func TestImportOfAnEndedProcessContinuesAtOnce(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		up := d.checked(t, people)
		if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
			t.Fatal(err)
		}
		d.cut = func() error { return errors.New("killed") }
		if _, err := d.work(t, up.ID); err == nil {
			t.Fatal("not killed")
		}
		d.cut = nil
		d.restart("second")
		for _, ended := range []bool{false, true} {
			d.ended["first"] = ended
			if err := d.Worker().Work(t.Context(), contactimport.UploadArgs{}); err != nil {
				t.Fatal(err)
			}
			up, err := d.Upload(t.Context(), d.Org.ID, up.ID)
			want := map[bool]contactupload.UploadStatus{false: contactupload.Importing, true: contactupload.Completed}[ended]
			if err != nil || up.Status != want {
				t.Errorf("the first process has ended %v: %s, %v, want %s", ended, up.Status, err, want)
			}
		}
	})
}

// TestTransfersOfAnEndedProcessDoNotCount lets a process end while it receives five files,
// the maximum. The files then make room for others, by the next file and by the periodic job.
func TestTransfersOfAnEndedProcessDoNotCount(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		begin := func() {
			for i := range 5 {
				up := contactupload.Upload{ID: core.NewID(), Status: contactupload.Receiving, CreatedAt: d.World.Clock(), ClaimedBy: d.config.Processes.ID()}
				content := fmt.Appendf(nil, "email\np%d@example.com\n", i)
				if err := errors.Join(d.Store.InsertUpload(t.Context(), d.Org.ID, up), d.Store.WriteChunk(t.Context(), d.Org.ID, up.ID, contactupload.FileChunk, 0, content)); err != nil {
					t.Fatal(err)
				}
			}
		}
		begin()
		if _, err := d.Receive(t.Context(), d.Org.ID, uploader, "x.csv", strings.NewReader(people)); !core.IsConflict(err) {
			t.Errorf("a sixth file: %v", err)
		}
		d.restart("second")
		up := d.receive(t, people)
		if err := d.Discard(t.Context(), d.Org.ID, up.ID); err != nil {
			t.Fatal(err)
		}
		begin()
		d.restart("third")
		if err := d.Worker().Work(t.Context(), contactimport.UploadArgs{}); err != nil {
			t.Fatal(err)
		}
		if n, err := d.Store.CountFiles(t.Context(), d.Org.ID); n != 0 || err != nil {
			t.Errorf("%d files count after their process has ended, %v", n, err)
		}
	})
}

// TestReceivedFileOfAnEndedProcessStays lets a process receive a file to its end, and stop,
// while another process finds out whether it has ended.
func TestReceivedFileOfAnEndedProcessStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	transfer := contactupload.Upload{ID: core.NewID(), Status: contactupload.Receiving, CreatedAt: d.World.Clock(), ClaimedBy: "first"}
	if err := d.Store.InsertUpload(t.Context(), d.Org.ID, transfer); err != nil {
		t.Fatal(err)
	}
	d.restart("second")
	d.judging = func() {
		received := transfer
		received.Status, received.ClaimedBy = contactupload.Received, ""
		if err := d.Store.UpdateUpload(t.Context(), d.Org.ID, received); err != nil {
			t.Error(err)
		}
	}
	if err := d.Worker().Work(t.Context(), contactimport.UploadArgs{}); err != nil {
		t.Fatal(err)
	}
	if up, err := d.Upload(t.Context(), d.Org.ID, transfer.ID); err != nil || up.Status != contactupload.Received {
		t.Errorf("the received file is %s, %v", up.Status, err)
	}
}

// TestReplacedProcessEndsItsRun lets a process count as ended while it stores a part, so that
// another process continues the import and does not end either. The first process must then
// not finish the import and delete the file: the other one may be reading it, and would take
// the end of what it has read for the end of the file.
func TestReplacedProcessEndsItsRun(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		up := d.checked(t, people)
		if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
			t.Fatal(err)
		}
		d.cut = func() error {
			claim := contactupload.Claim{Process: "second", Instead: "first", Now: d.World.Clock(), Until: d.World.Clock().Add(time.Hour)}
			claimed, err := d.Store.ClaimUpload(t.Context(), d.Org.ID, up.ID, claim)
			if err != nil || !claimed {
				t.Errorf("the second process claims the upload: %v, %v", claimed, err)
			}
			return err
		}
		got, err := d.work(t, up.ID)
		if err != nil || got.Status != contactupload.Importing || got.ClaimedBy != "second" {
			t.Errorf("after the first process the upload is %s, claimed by %q, %v", got.Status, got.ClaimedBy, err)
		}
		if _, _, err := d.Store.Chunk(t.Context(), d.Org.ID, up.ID, contactupload.FileChunk, 0); err != nil {
			t.Errorf("the file: %v", err)
		}
		d.cut = nil
		d.restart("second")
		d.Advance(2 * time.Hour)
		if got, err = d.work(t, up.ID); err != nil || got.Status != contactupload.Completed || got.Import.Rows != 4 {
			t.Errorf("after the second process the upload is %s, %v", got.Status, err)
		}
	})
}

// TestProcessIsJudgedOnceForAllItsWork leaves imports and transfers of one process in two
// organizations. The periodic job must not wait for a heartbeat of that process for each.
func TestProcessIsJudgedOnceForAllItsWork(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		other := core.Org{ID: core.NewID(), Name: "Other", Slug: "other-" + core.NewID()[24:], Tier: "demo", RetentionDays: 365}
		if err := db.Orgs().InsertOrg(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		d.cut = func() error { return errors.New("killed") }
		for range 2 {
			up := d.checked(t, people)
			if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
				t.Fatal(err)
			}
			if _, err := d.work(t, up.ID); err == nil {
				t.Fatal("not killed")
			}
		}
		d.cut = nil
		for _, org := range []string{d.Org.ID, d.Org.ID, other.ID} {
			transfer := contactupload.Upload{ID: core.NewID(), Status: contactupload.Receiving, CreatedAt: d.World.Clock(), ClaimedBy: "first"}
			if err := d.Store.InsertUpload(t.Context(), org, transfer); err != nil {
				t.Fatal(err)
			}
		}
		d.restart("second")
		for _, ended := range []bool{false, true} {
			judged := 0
			d.ended["first"], d.judging = ended, func() { judged++ }
			if err := d.Worker().Work(t.Context(), contactimport.UploadArgs{}); err != nil {
				t.Fatal(err)
			}
			inOrg, err := d.Store.WorkingUploads(t.Context(), d.Org.ID)
			inOther, errOther := d.Store.WorkingUploads(t.Context(), other.ID)
			want := map[bool]int{false: 5, true: 0}[ended]
			if open := len(inOrg) + len(inOther); open != want || judged != 1 || err != nil || errOther != nil {
				t.Errorf("ended %v: %d uploads are worked on, want %d, and the process was judged %d times, %v", ended, open, want, judged, errors.Join(err, errOther))
			}
		}
	})
}
