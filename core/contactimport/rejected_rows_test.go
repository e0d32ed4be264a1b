package contactimport_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestRejectedRowsAreLimited checks short rows under many columns, each of which is kept
// with all columns. The kept rows are the first ones, and stay below the limit; the file of
// rejected rows and the counts say how many rows were not kept, from which line on.
func TestRejectedRowsAreLimited(t *testing.T) {
	t.Parallel()
	// Two parts. Each row is kept with about 140 bytes, so the limit is reached in the second.
	const columns, rows, most = 100, 6000, 750_000
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
}
