package contactstest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core/bulk"
)

// WriteRows writes rows in bulk, pushes their consent to the account, and returns the
// outcomes.
func (w *World) WriteRows(t testing.TB, rows ...string) []map[string]any {
	t.Helper()
	items := w.FinishRows(t, w.AcceptRows(t, rows...))
	if _, err := w.Pushes.Push(t.Context(), w.Org.ID); err != nil {
		t.Fatal(err)
	}
	return items
}

// AcceptRows starts a bulk write and returns the id of the job.
func (w *World) AcceptRows(t testing.TB, rows ...string) string {
	t.Helper()
	var raw []json.RawMessage
	for _, row := range rows {
		raw = append(raw, json.RawMessage(row))
	}
	arguments, err := json.Marshal(map[string]any{"contacts": raw})
	if err != nil {
		t.Fatal(err)
	}
	taken := w.Want(t, "contacts_bulk", string(arguments))
	if taken["status"] != "queued" {
		t.Fatalf("taken as %v", taken)
	}
	return taken["job_id"].(string)
}

// FinishRows processes the open jobs and returns the outcomes of one of them.
func (w *World) FinishRows(t testing.TB, id string) []map[string]any {
	t.Helper()
	if err := w.Bulk.BulkWorker().Work(t.Context(), bulk.Args{}); err != nil {
		t.Fatal(err)
	}
	return w.Outcomes(t, id)
}

// Outcomes returns all outcomes of a completed job, read page by page.
func (w *World) Outcomes(t testing.TB, id string) []map[string]any {
	t.Helper()
	var items []map[string]any
	for cursor := ""; ; {
		page := w.Want(t, "contacts_bulk_get", fmt.Sprintf(`{"job_id":%q,"limit":200,"cursor":%q}`, id, cursor))
		if page["status"] != "completed" || page["completed_at"] == nil {
			t.Fatalf("not completed: %v", page)
		}
		for _, item := range page["results"].([]any) {
			items = append(items, item.(map[string]any))
		}
		next, more := page["next_cursor"].(string)
		if !more {
			if page["total"] != float64(len(items)) || page["processed"] != page["total"] {
				t.Errorf("%d outcomes of %v", len(items), page["total"])
			}
			return items
		}
		cursor = next
	}
}
