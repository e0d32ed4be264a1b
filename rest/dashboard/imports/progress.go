package imports

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// importPage is the data of the page of one import.
type importPage struct {
	File, Status, Mark string
	// Running is true while a job works on the file. Doing says what it does.
	Running    bool
	Doing      string
	Percent    int
	Problem    string
	Counts     []countShown
	Rejected   string // the path of the file of rejected rows, "" for none
	Lines      string // the lines of the first rejected rows
	NotKept    string // the number of rejected rows that were counted but not kept, "" for none
	NotKeptAt  int    // the line at which the first of them begins
	MaxKept    string // the maximum size of the file of rejected rows
	NotMailed  string // the lines of the first rows whose contacts cannot be mailed
	Preview    []previewRow
	Start      *frame.Form // nil if the import cannot start
	StartWords string
	Check      string      // identifies the check that the page shows, for the form Start
	Stop       *frame.Form // nil if the import cannot be stopped
	List       string      // the list that the contacts join, "" for none
	Left       string      // the number of rows that a stopped import did not read, "" otherwise
	By         string      // who uploaded the file, "" if that is unknown
	StartedBy  string      // who started the import, "" if it has not started or that is unknown
	Columns    string      // the path of the form with the columns, "" if they cannot change
	Discard    *frame.Form
	Uploaded   frame.When
	Done       bool
	Gone       bool // whether the file was deleted before an import
}

// countShown is a number with its name.
type countShown struct{ Number, Name string }

// previewRow is the outcome that the import has for one row.
type previewRow struct {
	Line                   int
	Contact, Outcome, Mark string
	Reason                 string
	Sets                   []contactupload.Cell
}

// showImport shows the state of an import.
func (h *Imports) showImport(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	up, ok := h.readUpload(w, r, v)
	if !ok {
		return
	}
	if up.Status == contactupload.Received && up.HasFile(h.Clock()) {
		frame.SeeOther(w, pathOf(up)+"/columns")
		return
	}
	h.importWith(w, r, v, up, "", http.StatusOK)
}

// importWith shows the state of an import. problem is the error of a refused form, "" for
// none.
func (h *Imports) importWith(w http.ResponseWriter, r *http.Request, v people.Visitor, up contactupload.Upload, problem string, status int) {
	data := h.newImportPage(v, up)
	names := h.Actors.For(v)
	var errUploaded, errStarted error
	data.By, errUploaded = personWords(r.Context(), names, up.UploadedBy)
	data.StartedBy, errStarted = personWords(r.Context(), names, up.ImportedBy)
	if err := errors.Join(errUploaded, errStarted); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.Show(w, r, v, status, frame.Screen{Page: "import", Title: data.File, Head: frame.Head{Title: data.File}, Problem: cmp.Or(problem, data.Problem), Data: data})
}

// newImportPage returns the data of the page of an import, without the names of people.
func (h *Imports) newImportPage(v people.Visitor, up contactupload.Upload) importPage {
	data := importPage{
		File: frame.PlainName(up.FileName), Status: statusWords[up.Status], Mark: statusMarks[up.Status], Problem: up.Problem, Uploaded: h.When(up.CreatedAt), List: frame.PlainName(up.Settings.ListName),
		Running: up.Status == contactupload.Checking || up.Status == contactupload.Importing, Done: up.Status == contactupload.Completed || up.Status == contactupload.Stopped,
	}
	data.Gone = !up.HasFile(h.Clock()) && !data.Done && up.Status != contactupload.Failed
	if data.Running {
		data.Doing, data.Percent = doingWords(up), percent(up.Result().Read, up.Size)
	}
	if up.Status == contactupload.Stopped {
		data.Left = count(max(0, up.Check.Rows-up.Import.Rows))
	}
	h.addResult(&data, up)
	h.addSteps(&data, v, up)
	return data
}

// doingWords says what a job does with the file.
func doingWords(up contactupload.Upload) string {
	switch {
	case up.Settings.Stopping:
		return "Stopping. The rows that are being stored are finished first."
	case up.Status == contactupload.Importing:
		return "Importing the rows. You may close this page."
	}
	return "Checking the rows. Nothing is changed."
}

// addResult adds the counts of an import, its rejected rows and the preview.
func (h *Imports) addResult(data *importPage, up contactupload.Upload) {
	result := up.Result()
	data.Counts = countsOf(up, result)
	data.Lines, data.NotMailed = lines(result.RejectedLines, result.Rejected), lines(result.NotMailableLines, result.NotMailable)
	if up.HasRejected(h.Clock()) {
		data.Rejected = pathOf(up) + "/rejected.csv"
		if result.NotKept > 0 {
			data.NotKept, data.NotKeptAt, data.MaxKept = count(result.NotKept), result.NotKeptLine, contactupload.SizeWords(h.Uploads.MaxRejectedBytes())
		}
	}
	if up.Status != contactupload.Checked {
		return
	}
	for _, row := range up.Check.Preview {
		data.Preview = append(data.Preview, newPreviewRow(row))
	}
}

// addSteps adds what the visitor can do with an upload in its state.
func (h *Imports) addSteps(data *importPage, v people.Visitor, up contactupload.Upload) {
	switch {
	case up.Status != contactupload.Importing:
		discard := frame.FormTo(v, pathOf(up)+"/discard")
		data.Discard = &discard
	case !up.Settings.Stopping:
		stop := frame.FormTo(v, pathOf(up)+"/stop")
		data.Stop = &stop
	}
	if !up.HasFile(h.Clock()) {
		return
	}
	if accepted := up.Check.Created + up.Check.Updated; up.Status == contactupload.Checked && accepted > 0 {
		start := frame.FormTo(v, pathOf(up)+"/start")
		data.Start, data.Check, data.StartWords = &start, up.Run, "Import "+frame.Quantity(int64(accepted), "row", "rows")
	}
	if !data.Running && up.Import.Rows == 0 {
		data.Columns = pathOf(up) + "/columns"
	}
}

// countsOf returns the numbers of a dry run or an import.
func countsOf(up contactupload.Upload, result contactupload.Result) []countShown {
	if result.Rows == 0 {
		return nil
	}
	created, updated := "created", "updated"
	if up.Status == contactupload.Checking || up.Status == contactupload.Checked {
		created, updated = "would be created", "would be updated"
	}
	return []countShown{
		{count(result.Rows), "rows"},
		{count(result.Created), created},
		{count(result.Updated), updated},
		{count(result.Rejected), "rejected"},
		{count(result.NotMailable), "not mailable"},
	}
}

// lines returns the lines of the first rows of a kind, of which there are total, such as
// "lines 3, 1100 and more". It returns "" if there are none.
func lines(first []int, total int) string {
	if len(first) == 0 {
		return ""
	}
	texts := make([]string, len(first))
	for i, line := range first {
		texts[i] = strconv.Itoa(line)
	}
	text := "line "
	if total > 1 {
		text = "lines "
	}
	text += strings.Join(texts, ", ")
	if total > len(first) {
		text += " and more"
	}
	return text
}

// percent returns the part of a whole, from 0 to 100.
func percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(min(100, 100*part/whole))
}

// newPreviewRow returns the data to show the outcome of a row.
func newPreviewRow(row contactupload.PreviewRow) previewRow {
	shown := previewRow{Line: row.Line, Reason: frame.PlainName(row.Outcome.Reason)}
	switch row.Outcome.Status {
	case contactupload.RowCreated:
		shown.Outcome, shown.Mark = "create", "good"
	case contactupload.RowUpdated:
		shown.Outcome, shown.Mark = "update", "live"
	default:
		shown.Outcome, shown.Mark = "reject", "ended"
	}
	for _, cell := range row.Cells {
		cell.Value = frame.PlainName(cell.Value)
		if shown.Contact == "" && (cell.Target == "email" || cell.Target == "external_id") {
			shown.Contact = cell.Value
			continue
		}
		shown.Sets = append(shown.Sets, cell)
	}
	return shown
}

// start starts the import of the checked rows. If the form shows an earlier check, or the
// import cannot start for another reason, it shows the present state with the reason.
func (h *Imports) start(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	up, ok := h.readUpload(w, r, v)
	if !ok {
		return
	}
	err := h.TransactorWith(v, members.MayManageContacts).InTx(r.Context(), func(ctx context.Context) error {
		if err := h.Uploads.StartImport(ctx, v.Org.ID, v.User.ID, up.ID, r.PostForm.Get("check")); err != nil {
			return err
		}
		return h.Record(ctx, v, "contacts.import_started", up.ID, map[string]any{"rows": up.Check.Rows, "bytes": up.Size})
	})
	if core.IsConflict(err) {
		h.refuseStart(w, r, v, core.AsError(err))
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.SeeOther(w, pathOf(up))
}

// refuseStart shows the present state of an upload with the reason why its import did not
// start. It redirects to the page of an upload that a job works on, because that page reads
// itself again.
func (h *Imports) refuseStart(w http.ResponseWriter, r *http.Request, v people.Visitor, refusal *core.Error) {
	up, ok := h.readUpload(w, r, v)
	switch {
	case !ok:
	case up.Status == contactupload.Checking || up.Status == contactupload.Importing:
		frame.SeeOther(w, pathOf(up))
	default:
		h.importWith(w, r, v, up, refusal.Message+" "+refusal.NextStep(), refusal.HTTPStatus())
	}
}

// stop ends an import. The rows that were imported before stay.
func (h *Imports) stop(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	up, ok := h.readUpload(w, r, v)
	if !ok {
		return
	}
	err := h.TransactorWith(v, members.MayManageContacts).InTx(r.Context(), func(ctx context.Context) error {
		if err := h.Uploads.Stop(ctx, v.Org.ID, up.ID); err != nil {
			return err
		}
		return h.Record(ctx, v, "contacts.import_stopped", up.ID, map[string]any{"rows": up.Import.Rows})
	})
	if err != nil && !core.IsConflict(err) { // the import has ended by itself
		h.Fail(w, r, v, err)
		return
	}
	frame.SeeOther(w, pathOf(up))
}

// discard deletes an upload with its file.
func (h *Imports) discard(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	err := h.TransactorWith(v, members.MayManageContacts).InTx(r.Context(), func(ctx context.Context) error {
		return h.Uploads.Discard(ctx, v.Org.ID, r.PathValue("id"))
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "discarded")
}

// sendRejected sends the rejected rows as a file. The cells are those of the uploaded file,
// so that the corrected file can be imported.
func (h *Imports) sendRejected(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	up, ok := h.readUpload(w, r, v)
	if !ok {
		return
	}
	if !up.HasRejected(h.Clock()) {
		h.NoSuchPage(w, r, v)
		return
	}
	frame.BeginCSV(w, "rejected-"+up.ID+".csv")
	if err := h.Uploads.WriteRejected(r.Context(), v.Org.ID, up.ID, w); err != nil {
		panic(http.ErrAbortHandler) // a part is sent, so the client must see that the rest is missing
	}
}
