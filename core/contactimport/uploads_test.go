package contactimport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage"
	contactimportstore "github.com/mailhelm/mailhelm/storage/contactimport"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const people = "\xef\xbb\xbfE-Mail;plan;Notes\nada@example.com;pro;x\nnobody;pro;y\nben@example.com;free;=1+1\nada@example.com;free;\n"

// TestUploadIsCheckedAndImported checks the counts and the preview of the dry run, that it
// changes nothing, and the contacts and rejected rows after the import.
func TestUploadIsCheckedAndImported(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		up := d.checked(t, people)
		if up.Status != contactupload.Checked || up.Check.Rows != 4 || up.Check.Created != 2 || up.Check.Updated != 1 || up.Check.Rejected != 1 || up.Check.Read != int64(len(people)) {
			t.Fatalf("checked %+v", up)
		}
		if diff := cmp.Diff([]string{"email", "attributes.plan", ""}, up.Settings.Targets); diff != "" {
			t.Errorf("guessed (-want +got):\n%s", diff)
		}
		if first := up.Check.Preview[0]; first.Line != 2 || first.Outcome.Status != contactupload.RowCreated || first.Cells[1] != (contactupload.Cell{Target: "attributes.plan", Value: "pro"}) {
			t.Errorf("preview %+v", up.Check.Preview)
		}
		listed, err := d.Uploads.Uploads(t.Context(), d.Org.ID)
		if err != nil || len(listed) != 1 || listed[0].Check.Rows != 4 || listed[0].Check.Preview != nil || listed[0].Sample.Header != nil || listed[0].Settings.Targets != nil {
			t.Errorf("the list has %+v, %v", listed, err)
		}
		d.Refuse(t, "contacts_lookup", `{"email":"ada@example.com"}`, core.CodeNotFound)
		if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
			t.Fatal(err)
		}
		up, err = d.work(t, up.ID)
		if err != nil || up.Status != contactupload.Completed || up.Import.Rows != 4 || up.Import.Created != 2 || up.Import.Rejected != 1 || up.CompletedAt == nil {
			t.Fatalf("imported %+v, %v", up, err)
		}
		if d.by != consent.ByImport(starter) {
			t.Errorf("imported by %q", d.by)
		}
		if got := d.Want(t, "contacts_lookup", `{"email":"ada@example.com"}`); got["email"] != "ada@example.com" {
			t.Errorf("contact %v", got)
		}
		var rejected bytes.Buffer
		if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, &rejected); err != nil {
			t.Fatal(err)
		}
		want := "E-Mail;plan;Notes;rejected_line;rejected_reason\nnobody;pro;y;3;"
		if !strings.HasPrefix(rejected.String(), want) || strings.Count(rejected.String(), "\n") != 2 {
			t.Errorf("rejected %q", rejected.String())
		}
		if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); !core.IsConflict(err) {
			t.Errorf("imported twice: %v", err)
		}
		if _, _, err := contactimportstore.New(db.DB).Chunk(t.Context(), d.Org.ID, up.ID, contactupload.FileChunk, 0); !core.IsNotFound(err) {
			t.Errorf("the file is still stored: %v", err)
		}
	})
}

// TestInterruptedImportContinues ends an import after its first part, as a killed process
// would, and lets another process continue it. Each row must be counted and rejected once.
func TestInterruptedImportContinues(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	text := strings.Builder{}
	text.WriteString("email\n")
	for i := range 5001 { // two parts
		fmt.Fprintf(&text, "p%d@example.com\n", i)
	}
	text.WriteString("wrong\n")
	up := d.checked(t, text.String())
	if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
		t.Fatal(err)
	}
	parts := 0
	d.cut = func() error {
		if parts++; parts == 2 {
			return errors.New("killed")
		}
		return nil
	}
	up, err := d.work(t, up.ID)
	if err == nil || up.Status != contactupload.Importing || up.Import.Rows != 5000 {
		t.Fatalf("interrupted %+v, %v", up.Import, err)
	}
	d.cut = nil
	if up, err = d.work(t, up.ID); err != nil || up.Status != contactupload.Importing {
		t.Errorf("continued despite the claim of the first process: %s, %v", up.Status, err)
	}
	d.Advance(10 * time.Minute)
	up, err = d.work(t, up.ID)
	if err != nil || up.Status != contactupload.Completed || up.Import.Rows != 5002 || up.Import.Created != 5001 || up.Import.Rejected != 1 || up.Import.DoneBefore != 5000 {
		t.Errorf("continued %+v, %v", up.Import, err)
	}
	var rejected bytes.Buffer
	if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, &rejected); err != nil || strings.Count(rejected.String(), "\n") != 2 {
		t.Errorf("rejected %q, %v", rejected.String(), err)
	}
}

// TestStoppedImportKeepsItsRows stops an import during its first part. The part is stored and
// counted, its contacts join the list, and the second part is not imported. The first run may
// also end, as if its process were killed, before the part is counted.
func TestStoppedImportKeepsItsRows(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		killed := db.Engine() == "sqlite" // one variant on each database, because each writes 5000 contacts
		d := newDesk(t, db)
		text := strings.Builder{}
		text.WriteString("email\n")
		for i := range 5001 { // two parts
			fmt.Fprintf(&text, "p%d@example.com\n", i)
		}
		up := d.receive(t, text.String())
		list, err := d.DB.Lists().ListsByRef(t.Context(), d.Org.ID, []string{"beta"})
		if err != nil {
			t.Fatal(err)
		}
		up.Settings.List = list[0].ID
		if err := d.StartCheck(t.Context(), d.Org.ID, up.ID, up.Settings); err != nil {
			t.Fatal(err)
		}
		if err := d.Stop(t.Context(), d.Org.ID, up.ID); !core.IsConflict(err) {
			t.Errorf("a check is stopped: %v", err)
		}
		if up, err = d.work(t, up.ID); err != nil {
			t.Fatal(err)
		}
		if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
			t.Fatal(err)
		}
		d.cut = func() error { return d.Stop(t.Context(), d.Org.ID, up.ID) }
		d.killed = killed
		up, err = d.work(t, up.ID)
		if killed {
			if err == nil || up.Status != contactupload.Importing {
				t.Fatalf("killed, and is %s, %v", up.Status, err)
			}
			d.cut, d.killed = nil, false
			d.Advance(10 * time.Minute)
			up, err = d.work(t, up.ID)
		}
		members, errMembers := d.DB.ListMembers().ListMembers(t.Context(), d.Org.ID, list[0].ID, nil, 6000)
		if err != nil || errMembers != nil || up.Status != contactupload.Stopped || up.Import.Rows != 5000 || up.Import.Created != 5000 || len(members) != 5000 || up.HasFile(d.World.Clock()) {
			t.Errorf("killed %v: stopped as %s with %+v and %d members, %v", killed, up.Status, up.Import.Summary, len(members), errors.Join(err, errMembers))
		}
		d.Refuse(t, "contacts_lookup", `{"email":"p5000@example.com"}`, core.CodeNotFound)
	})
}

// TestUnusableFilesAreRefused checks that a refused file leaves nothing stored.
func TestUnusableFilesAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	for name, c := range map[string]struct {
		file io.Reader
		want string
	}{
		"empty":     {strings.NewReader(""), "The file is empty"},
		"no rows":   {strings.NewReader("email\n"), "no rows"},
		"zip":       {strings.NewReader("PK\x03\x04"), "ZIP"},
		"utf-16":    {strings.NewReader("\xff\xfee\x00"), "UTF-16"},
		"columns":   {strings.NewReader(strings.Repeat("a,", 600) + "email\nx\n"), "more than 500"},
		"header":    {strings.NewReader("email," + strings.Repeat("x", 100_000) + "\na,b\n"), "more than 65536"},
		"too large": {io.LimitReader(endless{}, contactupload.MaxUpload+1), "larger than 50 MB"},
		"cut off":   {io.MultiReader(strings.NewReader("email\na@example.com\n"), broken{}), "could not be read"},
	} {
		_, err := d.Receive(t.Context(), d.Org.ID, uploader, "x.csv", c.file)
		if err == nil || core.AsError(err).Code != core.CodeValidationFailed || !strings.Contains(core.AsError(err).Message, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all, err := d.Store.Uploads(t.Context(), d.Org.ID, 10)
	if err != nil || len(all) != 0 {
		t.Errorf("stored %v, %v", all, err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// TestColumnsMustFit checks the refusals of an assignment, and that a file whose text is
// broken in its middle fails with the line.
func TestColumnsMustFit(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	up := d.receive(t, "Mail,Name\na@example.com,x\n")
	for want, targets := range map[string][]string{
		"No column is assigned": {"", ""}, "both assigned to email": {"email", "email"}, "no field, attribute or topic": {"email", "attributes.unknown"}, "assign each column": {"email"},
	} {
		err := d.StartCheck(t.Context(), d.Org.ID, up.ID, contactupload.Settings{Delimiter: ',', Targets: targets})
		if err == nil || !strings.Contains(core.AsError(err).Message, want) {
			t.Errorf("%v: %v", targets, err)
		}
	}
	if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); !core.IsConflict(err) {
		t.Errorf("imported without a check: %v", err)
	}
	up = d.checked(t, "email,plan\na@example.com,pro\nb@example.com,\nc@example.com,\nd@example.com,\"open\n"+strings.Repeat("x", 2<<20))
	if up.Status != contactupload.Failed || !strings.Contains(up.Problem, "line 5") {
		t.Errorf("status %s, problem %q", up.Status, up.Problem)
	}
}

// TestUploadsEnd checks the quota of stored files, and what is deleted when.
func TestUploadsEnd(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		up := d.checked(t, people)
		for range 4 {
			d.receive(t, people)
		}
		if _, err := d.Receive(t.Context(), d.Org.ID, uploader, "x.csv", strings.NewReader(people)); !core.IsConflict(err) {
			t.Errorf("a sixth file: %v", err)
		}
		purge := func(after time.Duration) {
			t.Helper()
			d.Advance(after)
			if err := d.Worker().Work(t.Context(), contactimport.UploadArgs{}); err != nil {
				t.Fatal(err)
			}
		}
		purge(25 * time.Hour)
		if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); !core.IsConflict(err) {
			t.Errorf("imported an expired file: %v", err)
		}
		if n, err := contactimportstore.New(db.DB).CountFiles(t.Context(), d.Org.ID); n != 0 || err != nil {
			t.Errorf("%d files are stored, %v", n, err)
		}
		if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, io.Discard); err != nil {
			t.Errorf("rejected rows after a day: %v", err)
		}
		purge(7 * 24 * time.Hour)
		if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, io.Discard); !core.IsNotFound(err) {
			t.Errorf("rejected rows after a week: %v", err)
		}
		purge(30 * 24 * time.Hour)
		if all, err := d.Uploads.Uploads(t.Context(), d.Org.ID); err != nil || len(all) != 0 {
			t.Errorf("after a month: %v, %v", all, err)
		}
	})
}

// TestNewSettingsReplaceTheCheck starts a second check with other settings while the first
// runs, during a part and after the last one. The first must not overwrite the second, and
// the second need not wait for the claim of the first.
func TestNewSettingsReplaceTheCheck(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		for _, hook := range []*func(){&d.checking, &d.changed} {
			up := d.receive(t, people)
			if err := d.StartCheck(t.Context(), d.Org.ID, up.ID, up.Settings); err != nil {
				t.Fatal(err)
			}
			*hook = func() {
				*hook = nil
				up.Settings.ClearEmpty = true
				if err := d.StartCheck(t.Context(), d.Org.ID, up.ID, up.Settings); err != nil {
					t.Error(err)
				}
			}
			for _, want := range []contactupload.UploadStatus{contactupload.Checking, contactupload.Checked} {
				if got, err := d.work(t, up.ID); err != nil || got.Status != want || !got.Settings.ClearEmpty {
					t.Errorf("%s with %+v, %v, want %s with new settings", got.Status, got.Settings, err, want)
				}
			}
		}
	})
}

// TestImportNeedsTheCheckThatWasSeen checks that a new check, even with the same settings,
// refuses the import that a person starts after seeing the earlier one.
func TestImportNeedsTheCheckThatWasSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t, storagetest.SQLite(t))
	seen := d.checked(t, people)
	if err := d.StartCheck(t.Context(), d.Org.ID, seen.ID, seen.Settings); err != nil {
		t.Fatal(err)
	}
	up, err := d.work(t, seen.ID)
	if err != nil || up.Status != contactupload.Checked || up.Run == "" || up.Run == seen.Run {
		t.Fatalf("checked again as %q after %q, %v", up.Run, seen.Run, err)
	}
	for _, run := range []string{seen.Run, ""} {
		if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, run); !core.IsConflict(err) || !strings.Contains(core.AsError(err).NextStep(), "new check") {
			t.Errorf("imported after the check %q: %v", run, err)
		}
	}
	if err := d.StartImport(t.Context(), d.Org.ID, starter, up.ID, up.Run); err != nil {
		t.Error(err)
	}
}

// TestFilesAreCountedAsTheyArrive sends eight files at the same time. Each is read only
// after all were begun or refused, so the limit must count files that have no chunk yet.
func TestFilesAreCountedAsTheyArrive(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		const sent, most = 8, 5
		var begun, ended sync.WaitGroup
		begun.Add(sent)
		refused := make(chan error, sent)
		for range sent {
			ended.Go(func() {
				file := &waiting{begun: &begun, rest: strings.NewReader(people)}
				if _, err := d.Receive(t.Context(), d.Org.ID, uploader, "people.csv", file); err != nil {
					file.once.Do(begun.Done)
					refused <- err
				}
			})
		}
		ended.Wait()
		close(refused)
		for err := range refused {
			if !core.IsConflict(err) {
				t.Error(err)
			}
		}
		if all, err := d.Uploads.Uploads(t.Context(), d.Org.ID); err != nil || len(all) != most {
			t.Errorf("%d files of %d are stored, %v", len(all), sent, err)
		}
	})
}

// waiting is a file that is read only after all files have begun.
type waiting struct {
	begun *sync.WaitGroup
	rest  io.Reader
	once  sync.Once
}

func (w *waiting) Read(b []byte) (int, error) {
	w.once.Do(func() {
		w.begun.Done()
		w.begun.Wait()
	})
	return w.rest.Read(b)
}
