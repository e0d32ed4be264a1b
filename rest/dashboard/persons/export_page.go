package persons

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/privacy"
)

//go:embed export.html
var exportText string

var exportPage = template.Must(template.New("export.html").Funcs(template.FuncMap{
	"columns": columnsOf, "value": valueOf, "date": func(at time.Time) string { return at.UTC().Format("2 January 2006, 15:04 UTC") },
	"words": func(name string) string { return strings.ReplaceAll(name, "_", " ") },
}).Parse(exportText))

// WriteExport writes an export as an HTML page for people. The page has no script and loads
// nothing, so it can be sent to the person.
func WriteExport(w io.Writer, e privacy.Export) error { return exportPage.Execute(w, e) }

// columnsOf returns the columns that a row of the table has, times last.
func columnsOf(t privacy.TableExport) []string {
	names := map[string]bool{}
	for _, row := range t.Rows {
		for name := range row {
			names[name] = true
		}
	}
	all := slices.Sorted(maps.Keys(names))
	slices.SortStableFunc(all, func(a, b string) int { return isTime(a) - isTime(b) })
	return all
}

func isTime(name string) int {
	if strings.HasSuffix(name, "_at") {
		return 1
	}
	return 0
}

// valueOf returns a value of a row as text: strings without quotation marks, times in words, other
// values as JSON.
func valueOf(row privacy.Row, name string) string {
	value := row[name]
	if value == nil {
		return ""
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return string(value)
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil && isTime(name) == 1 {
		return at.UTC().Format("2006-01-02 15:04:05")
	}
	return text
}
