package frame

import "net/http"

// BeginCSV writes the headers of an answer that is a CSV file (RFC 4180), which browsers
// save under this name. The name must not contain quotation marks. Caches must not store the
// file, because it has records of the organization.
func BeginCSV(w http.ResponseWriter, name string) {
	begin(w, name, "text/csv; charset=utf-8")
}

// BeginZip is [BeginCSV] for a zip archive.
func BeginZip(w http.ResponseWriter, name string) { begin(w, name, "application/zip") }

// BeginJSON is [BeginCSV] for a JSON file.
func BeginJSON(w http.ResponseWriter, name string) { begin(w, name, "application/json") }

// BeginHTML is [BeginCSV] for a page that is saved and not opened, so that it never runs as a page
// of this host.
func BeginHTML(w http.ResponseWriter, name string) { begin(w, name, "text/html; charset=utf-8") }

func begin(w http.ResponseWriter, name, contentType string) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}
