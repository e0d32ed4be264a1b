package mailstorage

import (
	"context"
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the page.
const Path = frame.Path + "/mail-storage"

// Room has the page of mail storage; see dashboard.Room.
type Room struct {
	settings objects.Settings
	*frame.Pages
}

// New returns the page of this package. For each request the page uses a copy of settings
// whose Transactor checks the visitor's permission and whose Record names the visitor. New
// fails if the template of the page cannot be read.
func New(f *frame.Frame, settings objects.Settings) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{settings, own}, nil
}

// Routes returns the routes of the page.
func (h *Room) Routes() []frame.Route {
	manage := members.MayManageOrg
	return []frame.Route{
		{Path: "/mail-storage", Needs: manage, Get: h.showStorage, Post: h.useBucket},
		{Path: "/mail-storage/files", Needs: manage, Post: h.useFiles},
		{Path: "/mail-storage/test", Needs: manage, Post: h.testStorage},
	}
}

// storagePage is the data of the page.
type storagePage struct {
	Form, Files, Test frame.Form
	Guide             *frame.Link
	// InUse describes the bucket in use; "" means that mail is stored in files.
	InUse   string
	Changed frame.When
	// Typed has the values of the form, without the secret. KeepsSecret is true if an empty
	// secret keeps the stored one.
	Typed       objects.Bucket
	KeepsSecret bool
	Encryptions []frame.Option
}

// labels has, for each form field, the words that name the field in the error text of a
// refused form.
//
//nolint:gosec // names of fields and steps, no secret
var labels = frame.Labels{
	"endpoint": "The endpoint", "region": "The region", "bucket": "The bucket", "prefix": "The prefix", "access_key_id": "The access key id", "secret": "The secret access key",
	"encryption": "The encryption", "kms_key_id": "The KMS key",
}

// notices are the messages that the page shows after a change.
var notices = frame.Notices{
	"bucket": "The bucket passed the test. New mail is stored in it. Earlier mail stays where it is.",
	"files":  "New mail is stored in this installation. Earlier mail stays where it is.",
}

// title is the title of the page.
const title = "Mail storage"

// tasks returns the settings for a visitor.
func (h *Room) tasks(v people.Visitor) objects.Settings {
	s := h.settings
	s.Transactor = h.TransactorWith(v, members.MayManageOrg)
	s.Record = func(ctx context.Context, orgID, action string, detail map[string]any) error {
		return h.Record(ctx, v, action, orgID, detail)
	}
	return s
}

// showStorage shows the place of new mail and the form for a bucket.
func (h *Room) showStorage(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.form(w, r, v, nil, nil)
}

// form writes the page. typed has the values of a sent form and refused its error; both are
// nil for the stored values.
func (h *Room) form(w http.ResponseWriter, r *http.Request, v people.Visitor, typed *objects.Bucket, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	if e := core.AsError(refused); refused != nil && len(e.Fields) == 0 {
		problem = frame.TextOf(refused) // of a test, which says what to do
	}
	stored, known, err := h.settings.Of(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := storagePage{Form: frame.FormTo(v, Path), Test: frame.FormTo(v, Path+"/test"), Guide: h.Guide("/guides/mail-storage", "Store mail in your own bucket")}
	if known {
		data.Files, data.InUse, data.Changed, data.Typed = frame.FormTo(v, Path+"/files"), stored.Name, h.When(stored.UpdatedAt), stored.Bucket
	}
	if typed != nil {
		data.Typed = *typed
	}
	data.KeepsSecret = known && stored.KeepsSecret(data.Typed)
	data.Typed.Secret = ""
	data.Encryptions = frame.ChooseOption([]frame.Option{
		{Value: string(objects.EncryptionDefault), Name: "As the bucket is set"},
		{Value: string(objects.EncryptionAES), Name: "AES-256, keys of the server"},
		{Value: string(objects.EncryptionKMS), Name: "AWS KMS"},
	}, string(data.Typed.Encryption))
	h.Show(w, r, v, status, frame.Screen{Page: "storage", Title: title, Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Title: title, Lead: "Where received mail of this organization is stored.",
	}})
}

// useBucket tests the bucket of a sent form, stores it and redirects to the page. A refused
// form is shown again without its secret.
func (h *Room) useBucket(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	// All mail of the organization goes to the bucket, so the visitor confirms who they are.
	if !h.Confirm(w, r, v, Path) {
		return
	}
	get := r.PostForm.Get
	typed := objects.Bucket{
		Endpoint: get("endpoint"), Region: get("region"), Name: get("bucket"), Prefix: get("prefix"), PathStyle: r.PostForm.Has("path_style"),
		AccessKeyID: get("access_key_id"), Secret: get("secret"), Encryption: objects.Encryption(get("encryption")), KMSKeyID: get("kms_key_id"),
	}
	if _, err := h.tasks(v).UseBucket(r.Context(), v.Org.ID, typed); err != nil {
		h.form(w, r, v, &typed, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "bucket")
}

// useFiles makes new mail files again and redirects to the page.
func (h *Room) useFiles(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, Path) {
		return
	}
	if err := h.tasks(v).UseFiles(r.Context(), v.Org.ID); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "files")
}

// testedPage is the data of the page with the results of a test.
type testedPage struct{ Findings []findingRow }

// findingRow is the result of one step. Class is the class of its mark.
type findingRow struct{ Name, Words, Class, Detail, Next string }

// stepNames are the names of steps on the page.
var stepNames = map[objects.Step]string{
	objects.StepWrite: "Write", objects.StepRead: "Read", objects.StepLink: "Link", objects.StepDelete: "Delete", objects.StepAbsent: "Missing object",
}

// testStorage tests the place of new mail and shows the results.
func (h *Room) testStorage(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	findings, err := h.settings.Test(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	var data testedPage
	for _, f := range findings {
		row := findingRow{Name: stepNames[f.Step], Words: "works", Class: "live", Detail: f.Detail, Next: f.Next}
		if !f.OK {
			row.Words, row.Class = "failed", "ended"
		}
		data.Findings = append(data.Findings, row)
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "tested", Title: "Test of mail storage", Data: data, Head: frame.Head{
		Title: "Test of mail storage", Lead: "What Mailhelm did with a test object.",
	}})
}
