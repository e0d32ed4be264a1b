package insight

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// downloadReport answers with the report that the page shows, as a file in the form of
// RFC 4180.
func (h reportHandlers) downloadReport(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	a := requestOf(r.URL.Query())
	rows, err := h.readReport(r, v, a, h.ReadableChannels(r, v))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	file, err := csvOf(tableOf(a, rows))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.BeginCSV(w, "mailhelm-"+a.Report+".csv")
	_, _ = w.Write(file) // an error means that the client has disconnected
}

// csvOf returns a table as a CSV file.
func csvOf(t reportTable) ([]byte, error) {
	var file bytes.Buffer
	out := csv.NewWriter(&file)
	out.UseCRLF = true
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = contactfile.EscapeFormula(strings.ReplaceAll(cell, "\u00a0", " "))
		}
		if err := out.Write(cells); err != nil {
			return nil, err
		}
	}
	out.Flush()
	return file.Bytes(), out.Error()
}
