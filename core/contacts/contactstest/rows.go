package contactstest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core/bulk"
)

// WriteRows stores rows with contacts_bulk, pushes their consent to the sending account,
// and returns the result of each row.
func (w *World) WriteRows(t testing.TB, rows ...string) []map[string]any {
	t.Helper()
	items := w.FinishRows(t, w.AcceptRows(t, rows...))
	if _, err := w.Pushes.Push(t.Context(), w.Org.ID); err != nil {
		t.Fatal(err)
	}
	return items
}

// AcceptRows calls contacts_bulk with the rows and returns the id of the queued job.
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

// FinishRows processes all queued bulk jobs and returns the results of the rows of job id.
func (w *World) FinishRows(t testing.TB, id string) []map[string]any {
	t.Helper()
	if err := w.Bulk.BulkWorker().Work(t.Context(), bulk.Args{}); err != nil {
		t.Fatal(err)
	}
	return w.Outcomes(t, id)
}

// Outcomes returns the results of all rows of a completed bulk job, read page by page.
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
