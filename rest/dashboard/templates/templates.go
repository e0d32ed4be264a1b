package templates

import (
	"context"
	"embed"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// TemplatesPath is the path of the list of templates.
const TemplatesPath = frame.Path + "/templates"

// newPath is the path of the editor for a new template. No slug contains "~".
const newPath = TemplatesPath + "/~new"

// Stored reads templates, as far as no operation does.
type Stored interface {
	// ReadTimes returns the time at which each template was last read from the account, by
	// the template's name.
	ReadTimes(ctx context.Context, orgID string) (map[string]time.Time, error)
	// Search returns a page of templates whose name, slug or subject contains the query.
	Search(ctx context.Context, orgID, query, cursor string, limit int) (core.Page[stored.Template], error)
	// Review checks content that may be unsaved.
	Review(ctx context.Context, orgID string, d stored.Draft) (stored.Review, error)
	// Preview renders content that may be unsaved.
	Preview(ctx context.Context, orgID string, d stored.Draft, with stored.PreviewData) (stored.Preview, error)
	// Version returns one version of a template; number 0 is the newest.
	Version(ctx context.Context, orgID, slug string, number int) (stored.Version, error)
	// History returns a page of versions without their HTML and text, the newest first, and
	// the number to pass as before for the next page, 0 on the last page.
	History(ctx context.Context, orgID, slug string, before, limit int) (versions []stored.Version, next int, err error)
}

// Config configures the pages. All fields are required.
type Config struct {
	Stored Stored
	Actors actors.Actors
}

// Templates has the pages about templates; see dashboard.Room.
type Templates struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates of the pages cannot be
// read.
func New(f *frame.Frame, cfg Config) (*Templates, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Templates{cfg, own}, nil
}

// maxForm is the maximum size of the editor's form in bytes. A browser writes up to six bytes
// for each byte of the content, so the limit is far above the 500 KB that a template may have:
// a template that is somewhat too long is then shown again with the reason.
const maxForm = 4 << 20

// Routes returns the routes of all pages of this package.
func (h *Templates) Routes() []frame.Route {
	view, manage, contacts := members.MayViewContent, members.MayManageContent, []members.Permission{members.MayViewContacts}
	editor, versions := editorPages{h}, versionPages{h}
	return []frame.Route{
		{Path: "/templates", Needs: view, Get: h.showTemplates},
		{Path: "/templates/~new", Needs: manage, AlsoNeeds: contacts, Get: editor.showNew, Post: editor.createTemplate, MaxForm: maxForm},
		{Path: "/templates/{slug}", Needs: view, AlsoNeeds: contacts, Get: h.showTemplate},
		{Path: "/templates/{slug}/preview", Needs: view, AlsoNeeds: contacts, Get: h.showPreview},
		{Path: "/templates/{slug}/source", Needs: view, Get: h.showSource},
		{Path: "/templates/{slug}/test", Needs: members.MayTestContent, AlsoNeeds: []members.Permission{view}, Get: h.showTest, Post: h.sendTest},
		{Path: "/templates/{slug}/edit", Needs: manage, AlsoNeeds: contacts, Get: editor.showEdit, Post: editor.editTemplate, MaxForm: maxForm},
		{Path: "/templates/{slug}/versions", Needs: view, Get: versions.showVersions},
		{Path: "/templates/{slug}/versions/{number}", Needs: view, Get: versions.showVersion},
		{Path: "/templates/{slug}/versions/{number}/restore", Needs: manage, Get: versions.showRestore, Post: versions.restoreVersion},
		{Path: "/templates/{slug}/compare", Needs: view, Get: versions.showCompare},
	}
}

// template has the members of a template that the pages show.
type template struct {
	Slug            string          `json:"slug"`
	Name            string          `json:"name"`
	DeployedName    string          `json:"deployed_name"`
	Subject         string          `json:"subject"`
	Version         string          `json:"version"`
	ContentHash     string          `json:"content_hash"`
	LastModified    string          `json:"last_modified_at"`
	Source          string          `json:"source"`
	HTML            string          `json:"html"`
	Text            string          `json:"text"`
	Validation      string          `json:"validation_status"`
	Diagnostics     []string        `json:"diagnostics"`
	Tags            []string        `json:"tags"`
	VersionNumber   int             `json:"version_number"`
	DeployedVersion *int            `json:"deployed_version"`
	DeployFailure   *string         `json:"deploy_failure"`
	TestData        json.RawMessage `json:"testdata"`
	Variables       []struct {
		Name     string `json:"name"`
		Required bool   `json:"required"`
	} `json:"variables"`
}

// isManaged reports whether Mailhelm stores the template with its versions.
func (t template) isManaged() bool { return t.Source != stored.Import }

// isFromGit reports whether the connected repository defines the template.
func (t template) isFromGit() bool { return t.Source == stored.Git }

// hasContent reports whether the template has content: not if its files in the repository were never
// valid.
func (t template) hasContent() bool { return !t.isManaged() || t.VersionNumber > 0 }

// isFaulty reports whether the content cannot be rendered. The faults of a template of the repository
// are in newer files than its content.
func (t template) isFaulty() bool {
	return len(t.Diagnostics) > 0 && !(t.isFromGit() && t.hasContent())
}

// draft returns the content of the template with its test data.
func (t template) draft() (stored.Draft, error) {
	d := stored.Draft{Subject: t.Subject, HTML: t.HTML, Text: t.Text}
	if len(t.TestData) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(t.TestData, &d.TestData); err != nil {
		return d, core.Internal(err)
	}
	return d, nil
}

// pathOf returns the path of the page of a template, and of the pages below it. A slug may
// contain "/", which is escaped.
func pathOf(slug string, below ...string) string {
	path := TemplatesPath + "/" + url.PathEscape(slug)
	for _, part := range below {
		path += "/" + part
	}
	return path
}

// formHere returns a form that is sent to the requested page. The token belongs to the
// unescaped path, which the frame checks.
func formHere(r *http.Request, v people.Visitor) frame.Form {
	form := frame.FormTo(v, r.URL.Path)
	form.Action = r.URL.EscapedPath()
	return form
}

// read reads the template that the request names. If it returns false, it has written an
// answer.
func (h *Templates) read(w http.ResponseWriter, r *http.Request, v people.Visitor) (template, bool) {
	var t template
	if err := h.Read(r, v, "templates_get", map[string]any{"slug": r.PathValue("slug")}, &t); err != nil {
		h.Fail(w, r, v, err)
		return t, false
	}
	return t, true
}

// mayWrite reports whether the visitor may save templates here: a connected repository owns
// those of its organization.
func mayWrite(v people.Visitor) bool {
	return v.Member.Has(members.MayManageContent) && !v.Org.GitConnected
}

// refuseGitOwned refuses to change a template of an organization whose templates come from a
// repository. It reports whether it has written an answer.
func (h *Templates) refuseGitOwned(w http.ResponseWriter, r *http.Request, v people.Visitor) bool {
	if !v.Org.GitConnected {
		return false
	}
	e := core.RefuseGitOwned("template")
	h.Refuse(w, r, v, e.HTTPStatus(), "Templates are defined by the connected repository.", e.NextStep())
	return true
}
