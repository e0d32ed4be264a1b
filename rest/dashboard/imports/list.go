package imports

import (
	"context"
	"io"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// notices are the messages that the pages show after a change.
var notices = frame.Notices{"discarded": "The file and its counts were deleted."}

// listPage is the data of the page with the form for a file and all imports.
type listPage struct {
	Form    frame.Form
	Rows    []importRow
	MaxSize int64  // in MB
	MaxRows string // the maximum number of rows of a file
	Empty   frame.Empty
}

// importRow is the data of one import in the list.
type importRow struct {
	Path, File, Status, Mark         string
	Rows, Created, Updated, Rejected string
	Uploaded                         frame.When
	By                               string // who uploaded the file, "" if that is unknown
}

// statusWords are the texts for the states of an import.
var statusWords = map[contactupload.UploadStatus]string{
	contactupload.Received: "columns to assign", contactupload.Checking: "being checked", contactupload.Checked: "ready to import",
	contactupload.Importing: "being imported", contactupload.Completed: "imported", contactupload.Stopped: "stopped", contactupload.Failed: "failed",
}

// statusMarks are the classes of the states.
var statusMarks = map[contactupload.UploadStatus]string{
	contactupload.Checking: "live", contactupload.Importing: "live", contactupload.Completed: "good", contactupload.Stopped: "test", contactupload.Failed: "ended",
}

// showImports shows the form for a file and all imports.
func (h *Imports) showImports(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.listWith(w, r, v, "", http.StatusOK)
}

// listWith shows the form for a file and all imports. problem is the error of a refused
// file, "" for none.
func (h *Imports) listWith(w http.ResponseWriter, r *http.Request, v people.Visitor, problem string, status int) {
	all, err := h.Uploads.Uploads(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{Form: frame.FormTo(v, Path), MaxSize: contactupload.MaxUpload >> 20, MaxRows: core.WithCommas(contactupload.MaxUploadRows)}
	data.Empty = frame.Empty{
		Text:   "No file was imported. Export contacts from another program as CSV and choose that file, or create a single contact.",
		Action: &frame.Action{Path: newContactPath, Name: "New contact"}, Guide: h.Guide("/guides/contacts", "Read the guide about contacts"),
	}
	names := h.Actors.For(v)
	for _, up := range all {
		row := h.newImportRow(up)
		if row.By, err = personWords(r.Context(), names, up.UploadedBy); err != nil {
			h.Fail(w, r, v, err)
			return
		}
		data.Rows = append(data.Rows, row)
	}
	head := frame.Head{Title: "Import contacts", Lead: "Each row of the file creates a contact, or changes the one with its address or external id. Nothing changes before you confirm."}
	h.Show(w, r, v, status, frame.Screen{Page: "list", Title: "Import contacts", Head: head, Notice: notices.NoticeOf(r), Problem: problem, Data: data})
}

func (h *Imports) newImportRow(up contactupload.Upload) importRow {
	row := importRow{Path: pathOf(up), File: frame.PlainName(up.FileName), Status: statusWords[up.Status], Mark: statusMarks[up.Status], Uploaded: h.When(up.CreatedAt)}
	if (up.Status == contactupload.Received || up.Status == contactupload.Checked) && !up.HasFile(h.Clock()) {
		row.Status = "not imported"
	}
	if result := up.Result(); result.Rows > 0 {
		row.Rows, row.Created, row.Updated, row.Rejected = count(result.Rows), count(result.Created), count(result.Updated), count(result.Rejected)
	}
	return row
}

// personWords returns the words for the person with the id, and "" for the id "".
func personWords(ctx context.Context, names *actors.Names, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	return names.Person(ctx, id)
}

// count formats a number of rows.
func count(n int) string { return core.WithCommas(n) }

// receive stores an uploaded file and redirects to the page that assigns its columns.
func (h *Imports) receive(w http.ResponseWriter, r *http.Request, v people.Visitor, name string, file io.Reader) {
	up, err := h.Uploads.Receive(r.Context(), v.Org.ID, v.User.ID, name, file)
	if err == nil {
		frame.SeeOther(w, pathOf(up)+"/columns")
		return
	}
	e := core.AsError(err)
	switch e.Code {
	case core.CodeValidationFailed:
		// Read a part of the rest: a browser shows the answer only after it has sent the form.
		_, _ = io.CopyN(io.Discard, file, contactupload.MaxUpload)
		h.listWith(w, r, v, frame.Labels{"file": "The file"}.Problem(err), e.HTTPStatus())
	case core.CodeConflict:
		_, _ = io.CopyN(io.Discard, file, contactupload.MaxUpload)
		h.listWith(w, r, v, e.Message+" "+e.NextStep(), e.HTTPStatus())
	default:
		h.Fail(w, r, v, err)
	}
}
