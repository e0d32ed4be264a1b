package contactimport

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
)

// accepting accepts every row without storing it.
type accepting struct{ People }

func (accepting) TryImport(_ context.Context, _ string, rows []json.RawMessage) ([]bulk.Item, error) {
	items := make([]bulk.Item, len(rows))
	for i := range items {
		items[i] = bulk.Item{Index: i, Status: bulk.ItemCreated}
	}
	return items, nil
}

// TestProgressCountsBytesOfCountedRows checks the bytes that an import of two parts reports:
// those up to the end of the last counted row, without what was read ahead.
func TestProgressCountsBytesOfCountedRows(t *testing.T) {
	t.Parallel()
	const mark = "\xef\xbb\xbf"
	text := strings.Builder{}
	text.WriteString(mark + "email\n")
	for i := range maxRows {
		fmt.Fprintf(&text, "%d@example.com\n", i)
	}
	first := text.Len()
	text.WriteString("\"last@example.com\"\n")
	rows, err := contactfile.Open(strings.NewReader(text.String()), contactfile.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var reported []int64
	_, err = Run(t.Context(), Config{
		People: accepting{}, DryRun: true, Progress: func(s contactupload.Summary) { reported = append(reported, s.Bytes) },
	}, rows)
	if want := []int64{int64(first), int64(text.Len())}; err != nil || fmt.Sprint(reported) != fmt.Sprint(want) {
		t.Errorf("%v: reported %v, want %v", err, reported, want)
	}
}
