package imports_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/imports"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

const hostile = "<script>alert(1)</script>"

// fakeUploads has one upload, which tests change.
type fakeUploads struct {
	up       contactupload.Upload
	refusal  error
	received string
	called   []string
}

func (f *fakeUploads) Receive(_ context.Context, _, _, name string, file io.Reader) (contactupload.Upload, error) {
	content, err := io.ReadAll(file)
	f.received = name + ": " + string(content)
	return f.up, errors.Join(err, f.refusal)
}

func (f *fakeUploads) Upload(_ context.Context, _, id string) (contactupload.Upload, error) {
	if id != f.up.ID {
		return contactupload.Upload{}, core.NotFound("upload")
	}
	return f.up, nil
}

func (f *fakeUploads) Uploads(context.Context, string) ([]contactupload.Upload, error) {
	if f.up.ID == "" {
		return nil, nil
	}
	return []contactupload.Upload{f.up}, nil
}

func (f *fakeUploads) StartCheck(context.Context, string, string, contactupload.Settings) error {
	f.called = append(f.called, "check")
	return f.refusal
}

func (f *fakeUploads) StartImport(_ context.Context, _, _, _, check string) error {
	f.called = append(f.called, "import")
	if check != f.up.Run {
		return core.Conflict("The file was checked again.", "Look at the new check.")
	}
	return f.refusal
}

func (f *fakeUploads) Stop(context.Context, string, string) error {
	f.called = append(f.called, "stop")
	return f.refusal
}

func (*fakeUploads) UserByID(_ context.Context, id string) (access.User, error) {
	if id == "former" {
		return access.User{}, core.NotFound("user")
	}
	return access.User{ID: id, Name: strings.ToUpper(id) + " " + hostile}, nil
}

func (f *fakeUploads) Discard(context.Context, string, string) error {
	f.called = append(f.called, "discard")
	return f.refusal
}

func (*fakeUploads) WriteRejected(_ context.Context, _, _ string, to io.Writer) error {
	_, err := io.WriteString(to, "email,rejected_line,rejected_reason\n")
	return err
}

func (*fakeUploads) MaxRejectedBytes() int { return 2 << 20 }

func (*fakeUploads) AttributeNames(context.Context, string) ([]string, error) {
	return []string{"plan"}, nil
}

func (*fakeUploads) Topics(context.Context, string) ([]topics.Topic, error) {
	return []topics.Topic{{Name: "news", DisplayName: "News " + hostile}}, nil
}

// office is an organization with one upload.
type office struct {
	*frametest.Office
	uploads *fakeUploads
	pages   http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{uploads: &fakeUploads{up: contactupload.Upload{
		ID: core.NewID(), UploadedBy: "grace", FileName: hostile + ".csv", Size: 4000, Status: contactupload.Received, CreatedAt: frametest.Now().Add(-time.Hour),
		Sample:   contactfile.Sample{Header: []string{"E-Mail", hostile}, Delimiter: ',', Rows: [][]string{{"ada@example.com", "=1+1" + hostile}}},
		Settings: contactupload.Settings{Delimiter: ',', Targets: []string{"email", ""}},
	}}, Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: imports.Path, Name: "Import"})}
	room, err := imports.New(o.Frame, imports.Config{Uploads: o.uploads, Topics: o.uploads, Actors: actors.Actors{Users: o.uploads}})
	o.Must(err)
	o.Frame.Operations = &frametest.Operations{T: t, Results: map[string]string{"lists_list": `{"data":[{"id":"11111111-1111-4111-8111-111111111111","key":"vip","name":"VIP","description":"","source":"api","origin":"managed","status":"active","member_count":3,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}],"pagination":{"has_more":false,"next_cursor":null}}`}}
	o.pages = o.Open(room)
	return o
}

func (o *office) path(step string) string { return imports.Path + "/file/" + o.uploads.up.ID + step }

// TestGoldenPages checks the pages of an import in each state.
func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	golden := func(name, path string) {
		t.Helper()
		status, page := frametest.Get(t, o.pages, path)
		if status != http.StatusOK || strings.Contains(page, hostile) {
			t.Errorf("%s: status %d", name, status)
		}
		frametest.CompareGolden(t, name, page, *update)
	}
	golden("list", imports.Path)
	golden("columns", o.path("/columns"))
	counted := contactupload.Result{Summary: contactupload.Summary{Rows: 1200, Created: 1000, Updated: 198, Rejected: 2, RejectedLines: []int{3, 1100}, NotMailable: 1, NotMailableLines: []int{7}}, Read: 2000}
	o.uploads.up.Check, o.uploads.up.Status = counted, contactupload.Checking
	golden("checking", o.path(""))
	counted.Preview = []contactupload.PreviewRow{
		{Line: 2, Cells: []contactupload.Cell{{Target: "email", Value: "ada@example.com"}, {Target: "attributes.plan", Value: hostile}}, Outcome: contactupload.Outcome{Status: contactupload.RowCreated}},
		{Line: 3, Outcome: contactupload.Outcome{Status: contactupload.RowRejected, Reason: "must have as many fields as the header: 2, not 1 " + hostile}},
	}
	o.uploads.up.Check, o.uploads.up.Status, o.uploads.up.Run = counted, contactupload.Checked, "run-1"
	golden("checked", o.path(""))
	o.uploads.up.Status, o.uploads.up.Import, o.uploads.up.ImportedBy = contactupload.Importing, counted, "ada"
	golden("importing", o.path(""))
	o.uploads.up.Settings.Stopping = true
	golden("stopping", o.path(""))
	o.uploads.up.Status, o.uploads.up.ImportedBy = contactupload.Stopped, "former"
	o.uploads.up.Import.Rows, o.uploads.up.Settings.ListName = 1000, "VIP"
	golden("stopped", o.path(""))
	o.uploads.up.Import, o.uploads.up.Settings.Stopping = counted, false
	o.uploads.up.Status, o.uploads.up.ImportedBy = contactupload.Completed, o.Site.Visitor.User.ID
	golden("completed", o.path(""))
	o.uploads.up.Import.Rejected, o.uploads.up.Import.NotKept, o.uploads.up.Import.NotKeptLine = 1000, 998, 1101
	golden("not_kept", o.path(""))
	o.uploads.up.Status, o.uploads.up.Import, o.uploads.up.Problem = contactupload.Failed, contactupload.Result{}, "The record at line 9 is longer than 1 MiB."
	golden("failed", o.path(""))
	o.uploads.up.Status, o.uploads.up.Problem, o.uploads.up.CreatedAt = contactupload.Checked, "", frametest.Now().AddDate(0, 0, -2)
	golden("expired", o.path(""))
	o.uploads.up = contactupload.Upload{}
	golden("list_empty", imports.Path)
}

// upload sends a form with a file. fields are sent before the file.
func (o *office) upload(fields map[string]string, name, content string) (int, string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for field, value := range fields {
		o.Must(form.WriteField(field, value))
	}
	part, err := form.CreateFormFile("file", name)
	o.Must(err)
	_, err = io.WriteString(part, content)
	o.Must(errors.Join(err, form.Close()))
	r := httptest.NewRequestWithContext(o.T.Context(), http.MethodPost, imports.Path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	o.pages.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestUploads checks that a file is taken only with a valid token before it, and that a
// refusal is shown beside the form.
func TestUploads(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	valid := map[string]string{"token": o.Site.Visitor.FormToken("dashboard\x00" + imports.Path)}
	for name, fields := range map[string]map[string]string{"no token": nil, "wrong token": {"token": "x"}, "other field first": {"other": "x"}} {
		if status, _ := o.upload(fields, "a.csv", "email\n"); status != http.StatusForbidden && status != http.StatusBadRequest || o.uploads.received != "" {
			t.Errorf("%s: status %d, received %q", name, status, o.uploads.received)
		}
	}
	if status, _ := o.upload(valid, "a.csv", "email\nx\n"); status != http.StatusSeeOther || o.uploads.received != "a.csv: email\nx\n" {
		t.Errorf("status %d, received %q", status, o.uploads.received)
	}
	o.uploads.refusal = core.Invalid("file", "is larger than 50 MB; divide it")
	if status, page := o.upload(valid, "a.csv", "email\n"); status != http.StatusUnprocessableEntity || !strings.Contains(page, "The file is larger than 50 MB") {
		t.Errorf("status %d, %s", status, page)
	}
	o.Allow(members.MayViewContacts)
	if status, _ := o.upload(valid, "a.csv", "email\n"); status != http.StatusForbidden {
		t.Errorf("without permission: status %d", status)
	}
}

// TestSteps checks the steps after the upload, and that each needs the permission until its
// transaction.
func TestSteps(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for step, want := range map[string]string{"/columns": "check", "/start": "import", "/stop": "stop", "/discard": "discard"} {
		o.Allow(members.MayManageContacts)
		o.uploads.called = nil
		o.Delay.First = func() { o.TakeAway(members.MayViewContacts) }
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path(step), url.Values{}); status != http.StatusForbidden || o.uploads.called != nil {
			t.Errorf("%s without permission: status %d, called %v", step, status, o.uploads.called)
		}
		o.Allow(members.MayManageContacts)
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path(step), url.Values{}); status != http.StatusSeeOther || len(o.uploads.called) != 1 || o.uploads.called[0] != want {
			t.Errorf("%s: status %d, called %v", step, status, o.uploads.called)
		}
	}
	o.uploads.called = nil
	o.Allow(members.MayManageContacts, members.MayViewLists)
	for chosen, want := range map[string]int{"unknown": http.StatusUnprocessableEntity, "11111111-1111-4111-8111-111111111111": http.StatusSeeOther} {
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path("/columns"), url.Values{"list": {chosen}}); status != want {
			t.Errorf("list %s: status %d", chosen, status)
		}
	}
	if status, _ := frametest.Get(t, o.pages, imports.Path+"/file/"+core.NewID()); status != http.StatusNotFound {
		t.Errorf("unknown import: status %d", status)
	}
	o.uploads.up.Status, o.uploads.up.Check = contactupload.Checked, contactupload.Result{Summary: contactupload.Summary{Rows: 1, Rejected: 1}}
	if status, file := frametest.Get(t, o.pages, o.path("/rejected.csv")); status != http.StatusOK || !strings.HasPrefix(file, "email,") {
		t.Errorf("rejected rows: status %d, %q", status, file)
	}
}

// TestEveryListCanBeChosen checks that contacts can be put on a list that is not among the
// newest, and that the form is not refused as if the list were missing when the lists cannot
// be read.
func TestEveryListCanBeChosen(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	operations := o.Frame.Operations.(*frametest.Operations) //nolint:forcetypeassert // newOffice sets it
	older := operations.Results["lists_list"]
	operations.Results["lists_list after next"] = older
	operations.Results["lists_list"] = `{"data":[],"pagination":{"has_more":true,"next_cursor":"next"}}`
	chosen := url.Values{"list": {"11111111-1111-4111-8111-111111111111"}}
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path("/columns"), chosen); status != http.StatusSeeOther {
		t.Errorf("an older list: status %d", status)
	}
	operations.Errors = map[string]*core.Error{"lists_list": {Code: core.CodeOverloaded, Message: "Too many reads."}}
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path("/columns"), chosen); status != http.StatusServiceUnavailable {
		t.Errorf("lists cannot be read: status %d", status)
	}
}

// TestAStaleCheckIsNotImported checks that the form of a page that shows an earlier check is
// refused, and that the answer shows the new check with its form.
func TestAStaleCheckIsNotImported(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.uploads.up.Status, o.uploads.up.Run = contactupload.Checked, "run-2"
	o.uploads.up.Check = contactupload.Result{Summary: contactupload.Summary{Rows: 7, Created: 7}}
	status, page := frametest.Post(t, o.pages, o.Site.Visitor, o.path("/start"), url.Values{"check": {"run-1"}})
	if status != http.StatusConflict || !strings.Contains(page, "The file was checked again. Look at the new check.") || !strings.Contains(page, `value="run-2"`) || !strings.Contains(page, "Import 7 rows") {
		t.Errorf("an earlier check: status %d, %s", status, page)
	}
	o.uploads.up.Status = contactupload.Checking
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path("/start"), url.Values{"check": {"run-1"}}); status != http.StatusSeeOther {
		t.Errorf("while the new check runs: status %d", status)
	}
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, o.path("/start"), url.Values{"check": {"run-2"}}); status != http.StatusSeeOther {
		t.Errorf("the check of the page: status %d", status)
	}
}
