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

// TestPartsOfFaultyRowsAreLimited checks that rejected rows, which have no JSON, fill a part
// by their bytes and by the memory of their cells.
func TestPartsOfFaultyRowsAreLimited(t *testing.T) {
	t.Parallel()
	const columns = 500
	for name, c := range map[string]struct {
		row  string
		want int // rows of the first part
	}{
		"long text":   {"x" + strings.Repeat(" ", 1<<19) + "\n", 8},
		"empty cells": {"\xff" + strings.Repeat(",", columns-1) + "\n", 494},
	} {
		header := "email" + strings.Repeat(",", columns-1) + "\n"
		rows, err := contactfile.Open(strings.NewReader(header+strings.Repeat(c.row, c.want*2)), contactfile.Config{IgnoreUnknown: true})
		if err != nil {
			t.Fatal(err)
		}
		part, err := readPart(rows)
		if err != nil || len(part) != c.want || part[0].Fault == "" {
			t.Errorf("%s: %d rows, %v", name, len(part), err)
		}
	}
}
