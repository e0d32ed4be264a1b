package contactimport_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestRejectedRowsAreLimited checks short rows under many columns, each of which is kept
// with all columns. The kept rows are the first ones, and stay below the limit; the file of
// rejected rows and the counts say how many rows were not kept, from which line on.
func TestRejectedRowsAreLimited(t *testing.T) {
	t.Parallel()
	// Two parts. Each row is kept with about 140 bytes, so the limit is reached in the second.
	const columns, rows, most = 100, 6000, 732 << 10
	d := newDesk(t, storagetest.SQLite(t))
	d.config.MaxRejected = most
	d.Uploads = contactimport.NewUploads(d.config)
	text := strings.Builder{}
	text.WriteString("email")
	for i := range columns - 1 {
		fmt.Fprintf(&text, ",c%d", i)
	}
	text.WriteString("\n" + strings.Repeat("x\n", rows))
	up := d.checked(t, text.String())
	got := up.Check
	if up.Status != contactupload.Checked || got.Rejected != rows || got.NotKept == 0 || got.NotKept == rows {
		t.Fatalf("checked as %s, %d rejected, %d not kept", up.Status, got.Rejected, got.NotKept)
	}
	var file bytes.Buffer
	if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, &file); err != nil {
		t.Fatal(err)
	}
	if file.Len() > most+2000 { // the header and the last record
		t.Errorf("%d bytes were kept, the limit is %d", file.Len(), most)
	}
	records, err := csv.NewReader(&file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last, kept := records[len(records)-1], rows-got.NotKept
	if len(records) != 1+kept+1 || got.NotKeptLine != kept+2 {
		t.Errorf("%d records, %d rows kept, the first one not kept at line %d", len(records), kept, got.NotKeptLine)
	}
	if last[columns] != fmt.Sprint(kept+2) || !strings.Contains(last[columns+1], fmt.Sprintf("not kept, %d in total", got.NotKept)) {
		t.Errorf("the last record is %q, %q", last[columns], last[columns+1])
	}
	if !strings.Contains(last[columns+1], "at most 732 KB.") {
		t.Errorf("the limit in %q is not the configured one", last[columns+1])
	}
}

// replacing starts another check of an upload when it is first written to.
type replacing struct {
	check func() error
	done  bool
	strings.Builder
}

func (r *replacing) Write(b []byte) (int, error) {
	if !r.done {
		r.done = true
		if err := r.check(); err != nil {
			return 0, err
		}
	}
	return r.Builder.Write(b)
}

// TestRejectedRowsAreWholeOrRefused starts another check, which deletes the rejected rows,
// while they are being read. The reader must not take what it has for all rows. While the
// check runs there is no file of rejected rows.
func TestRejectedRowsAreWholeOrRefused(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		up := d.checked(t, people)
		to := &replacing{check: func() error { return d.StartCheck(t.Context(), d.Org.ID, up.ID, up.Settings) }}
		if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, to); !core.IsConflict(err) {
			t.Errorf("rows that were deleted are read as %q, %v", to, err)
		}
		d.changed = func() {
			running, err := d.Upload(t.Context(), d.Org.ID, up.ID)
			if err != nil || running.Status != contactupload.Checking || running.Check.Rejected == 0 {
				return
			}
			d.changed = nil
			if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, to); !core.IsNotFound(err) {
				t.Errorf("the rejected rows of a running check: %v", err)
			}
		}
		if _, err := d.work(t, up.ID); err != nil || d.changed != nil {
			t.Errorf("checked again: %v, was read while it ran: %v", err, d.changed == nil)
		}
		if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, to); err != nil || !strings.Contains(to.String(), "nobody") {
			t.Errorf("rejected rows %q, %v", to, err)
		}
	})
}

// TestRepeatedCheckForgetsRejectedRows interrupts a check after its first part. A row of this
// part that was rejected is valid in the repeated check, so it must not be among the rejected
// rows.
func TestRepeatedCheckForgetsRejectedRows(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, repeatCheck)
}

func repeatCheck(t *testing.T, db *storage.DB) {
	t.Helper()
	d := newDesk(t, db)
	text := strings.Builder{}
	text.WriteString("email,plan\nada@example.com,vip\n")
	for i := range 4999 {
		fmt.Fprintf(&text, "p%d@example.com,\n", i)
	}
	text.WriteString("wrong,\n") // the second part
	up := d.receive(t, text.String())
	if err := d.StartCheck(t.Context(), d.Org.ID, up.ID, up.Settings); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	parts := 0
	d.checking = func() {
		if parts++; parts == 2 {
			cancel()
		}
	}
	if err := d.Worker().Work(ctx, contactimport.UploadArgs{OrgID: d.Org.ID, ID: up.ID}); err == nil {
		t.Fatal("not interrupted")
	}
	d.checking = nil
	all, err := d.DB.Attributes().Attributes(t.Context(), d.Org.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Name == "plan" {
			a.EnumValues = append(a.EnumValues, "vip")
			if err := d.DB.Attributes().UpdateAttribute(t.Context(), d.Org.ID, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.Advance(10 * time.Minute)
	up, err = d.work(t, up.ID)
	if err != nil || up.Status != contactupload.Checked || up.Check.Rejected != 1 {
		t.Fatalf("checked again as %s with %+v, %v", up.Status, up.Check.Summary, err)
	}
	var rejected strings.Builder
	if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, &rejected); err != nil || strings.Count(rejected.String(), "\n") != 2 || strings.Contains(rejected.String(), "ada@") {
		t.Errorf("rejected rows %q, %v", rejected.String(), err)
	}
}

// TestRejectedRowsOfErasedPersons checks a file with rows of a person who was erased and must get
// no mail: one that is valid, and one that is refused before its address is looked up. Of both
// only the line and the reason are kept, and another rejected row is kept with its cells.
func TestRejectedRowsOfErasedPersons(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		d := newDesk(t, db)
		direct := d.Bulk.Config
		direct.Queue = nil
		direct.ErasedAddresses = func(_ context.Context, _ string, keys []string) (map[string]bool, error) {
			return map[string]bool{"erin@example.org": slices.Contains(keys, "erin@example.org")}, nil
		}
		d.config.Contacts = cutting{bulk.New(direct), d}
		d.Uploads = contactimport.NewUploads(d.config)
		up := d.checked(t, "email,note\nErin@example.org,secret-1\n ERIN@example.org,secret-2,x\nada,kept\n")
		if up.Check.Rejected != 3 {
			t.Fatalf("checked as %s, %+v", up.Status, up.Check)
		}
		var file strings.Builder
		if err := d.WriteRejected(t.Context(), d.Org.ID, up.ID, &file); err != nil {
			t.Fatal(err)
		}
		preview, err := json.Marshal(up)
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range []string{file.String(), string(preview)} {
			if low := strings.ToLower(stored); strings.Contains(low, "erin") || strings.Contains(low, "secret") {
				t.Errorf("stored of an erased person: %s", stored)
			}
		}
		reason := "validation_failed: email belongs to a person who was erased and who must get no mail"
		if want := "email,note,rejected_line,rejected_reason\n,,2," + reason + "\n,,3," + reason + "\nada,kept,4,"; !strings.HasPrefix(file.String(), want) {
			t.Errorf("rejected rows %q, want %q", file.String(), want)
		}
	})
}
