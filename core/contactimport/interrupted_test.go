package contactimport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// dropping calls drop when it is first read, and then ends.
type dropping struct{ drop func() }

func (d dropping) Read([]byte) (int, error) {
	d.drop()
	return 0, io.EOF
}

// TestDroppedTransferAsksForTheFileAgain lets another process drop a transfer, because the
// process that receives the file stood still: before a chunk is stored, before the stored
// file is read, and before the file counts as received.
func TestDroppedTransferAsksForTheFileAgain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		drop := func() {
			d.naming = nil
			open, err := d.Store.WorkingUploads(t.Context(), d.Org.ID)
			if err != nil || len(open) != 1 || open[0].Status != contactupload.Receiving {
				t.Errorf("open %+v, %v", open, err)
				return
			}
			if err := d.Store.DeleteUpload(t.Context(), d.Org.ID, open[0].ID); err != nil {
				t.Error(err)
			}
		}
		firstChunk := people + strings.Repeat("x;y;z\n", 1<<20/6)
		firstChunk = firstChunk[:1<<20]
		for name, c := range map[string]struct {
			file   io.Reader
			naming func()
		}{
			"chunk":    {io.MultiReader(strings.NewReader(people), dropping{drop}), nil},
			"reading":  {io.MultiReader(strings.NewReader(firstChunk), dropping{drop}), nil},
			"received": {strings.NewReader(people), drop},
		} {
			d.naming = c.naming
			_, err := d.Receive(t.Context(), d.Org.ID, uploader, "people.csv", c.file)
			if !core.IsConflict(err) || !strings.Contains(err.Error(), "interrupted") || core.AsError(err).NextStep() != "Send the file again." || strings.Contains(err.Error(), "not_found") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestFailureToDropTransfersIsLogged receives a file while five transfers count and nothing
// says whether their process has ended. The user learns that there are too many files, and
// the operator why no transfer was dropped.
func TestFailureToDropTransfersIsLogged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	for range 5 {
		transfer := contactupload.Upload{ID: core.NewID(), Status: contactupload.Receiving, CreatedAt: d.World.Clock(), ClaimedBy: "first"}
		if err := d.Store.InsertUpload(t.Context(), d.Org.ID, transfer); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	d.config.Log = slog.New(slog.NewTextHandler(&log, nil))
	d.restart("second")
	d.unknown = errors.New("no heartbeats")
	_, err := d.Receive(t.Context(), d.Org.ID, uploader, "people.csv", strings.NewReader(people))
	if !core.IsConflict(err) || strings.Contains(err.Error(), "no heartbeats") {
		t.Errorf("received with %v", err)
	}
	for _, want := range []string{"no heartbeats", d.Org.ID} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, &log)
		}
	}
}

// TestPartlyDroppedTransfersMakeRoom receives a file while five transfers count. One of them
// is dropped before it becomes unknown which processes have ended.
func TestPartlyDroppedTransfersMakeRoom(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	for i := range 5 {
		transfer := contactupload.Upload{ID: core.NewID(), Status: contactupload.Receiving, CreatedAt: d.World.Clock(), ClaimedBy: fmt.Sprint("process ", i)}
		if err := d.Store.InsertUpload(t.Context(), d.Org.ID, transfer); err != nil {
			t.Fatal(err)
		}
		d.ended[transfer.ClaimedBy] = true
	}
	judged := 0
	d.judging = func() {
		if judged++; judged == 2 {
			d.unknown = errors.New("no heartbeats")
		}
	}
	d.receive(t, people)
}

// TestImportThatFailsInALaterPartEnds interrupts an import in its second part, again and
// again. Each run stores the first part once more, which is no progress: the import fails
// after a limited number of runs.
func TestImportThatFailsInALaterPartEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	var file strings.Builder
	file.WriteString("email\n")
	for i := range bulk.MaxRows + 1 {
		fmt.Fprintf(&file, "p%d@example.com\n", i)
	}
	up := d.checked(t, file.String())
	if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
		t.Fatal(err)
	}
	parts, runs := 0, 0
	d.cut = func() error {
		if parts++; parts == 2 {
			return errors.New("killed")
		}
		return nil
	}
	for ; runs < 50 && up.Status != contactupload.Failed; runs++ {
		parts = 0
		d.restart(fmt.Sprint("process ", runs))
		ended := d.Worker().Work(t.Context(), contactimport.UploadArgs{})
		var err error
		if up, err = d.Upload(t.Context(), d.Org.ID, up.ID); err != nil || ended == nil && up.Status != contactupload.Failed {
			t.Fatalf("run %d: %v, %v, %s", runs, ended, err, up.Status)
		}
	}
	if up.Status != contactupload.Failed || runs < 5 || !strings.Contains(up.Problem, "repeatedly") {
		t.Errorf("after %d runs: %s %q", runs, up.Status, up.Problem)
	}
}
