package templates

import (
	"context"
	"embed"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// TemplatesPath is the path of the list of templates.
const TemplatesPath = frame.Path + "/templates"

// Stored reads Mailhelm's copies of the sending account's templates, as far as no operation
// does.
type Stored interface {
	// ReadTimes returns the time at which each template was last read from the account, by
	// the template's name.
	ReadTimes(ctx context.Context, orgID string) (map[string]time.Time, error)
	// Search returns a page of templates whose name, slug or subject contains the query.
	Search(ctx context.Context, orgID, query, cursor string, limit int) (core.Page[stored.Template], error)
}

// Templates has the pages about templates; see dashboard.Room.
type Templates struct {
	stored Stored
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates of the pages cannot be
// read.
func New(f *frame.Frame, copies Stored) (*Templates, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Templates{copies, own}, nil
}

// Routes returns the routes of all pages of this package.
func (h *Templates) Routes() []frame.Route {
	return []frame.Route{
		{Path: "/templates", Needs: members.MayViewContent, Get: h.showTemplates},
		{Path: "/templates/{slug}", Needs: members.MayViewContent, AlsoNeeds: []members.Permission{members.MayManageContent, members.MayManageCampaigns}, Get: h.showTemplate},
		{Path: "/templates/{slug}/preview", Needs: members.MayViewContent, Get: h.showPreview},
	}
}

// template has the members of a template that the pages show.
type template struct {
	Slug         string   `json:"slug"`
	Name         string   `json:"name"`
	DeployedName string   `json:"deployed_name"`
	Subject      string   `json:"subject"`
	Version      string   `json:"version"`
	LastModified string   `json:"last_modified_at"`
	HTML         string   `json:"html"`
	Text         string   `json:"text"`
	Diagnostics  []string `json:"diagnostics"`
	Tags         []string `json:"tags"`
	Variables    []struct {
		Name     string `json:"name"`
		Required bool   `json:"required"`
	} `json:"variables"`
}

// listPage is the data of the page that lists templates.
type listPage struct {
	All   string
	Query string // the text to search for
	Tag   string // the tag that the templates have, "" for all templates
	Rows  []row
	Pager frame.Pager
	Empty frame.Empty
	// MayReport is true if the rows have figures.
	MayReport bool
}

// row is the data of a template in the list.
type row struct {
	Path, Name, Slug, Subject string
	Changed, Read             frame.When
	Figures                   figures
}

// showTemplates shows the templates of the sending account, the newest first.
func (h *Templates) showTemplates(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	found, next, err := h.find(r, v)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	reads, err := h.stored.ReadTimes(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{All: TemplatesPath, Query: query.Get("q"), MayReport: v.Member.Has(members.MayViewAnalytics), Empty: frame.Empty{
		Text: "The sending account has no templates. Templates that are created there appear here within 15 minutes.",
	}}
	if data.Tag = tagOf(r); data.Tag != "" {
		data.Empty = frame.Empty{Text: "No template has this tag."}
	}
	if data.Query != "" {
		data.Empty = frame.Empty{Text: "No template has this text in its name, slug or subject."}
	}
	performance, err := h.performance(r, v, "")
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	for _, t := range found {
		data.Rows = append(data.Rows, row{
			Path: TemplatesPath + "/" + url.PathEscape(t.Slug), Name: frame.PlainName(t.Name), Slug: t.Slug, Subject: frame.PlainName(t.Subject),
			Changed: h.WhenText(t.LastModified), Read: h.When(reads[t.DeployedName]), Figures: performance[strings.ToLower(t.DeployedName)],
		})
	}
	data.Pager = frame.PagerOf(TemplatesPath, query, len(data.Rows), next, -1)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "templates", Title: "Templates", Data: data, Head: frame.Head{
		Title: "Templates", Lead: "Email templates of the sending account, as Mailhelm last read them. Figures are of the last 30 days.",
	}})
}

// maxQuery is the maximum length of the text to search for, in bytes.
const maxQuery = 100

// find returns a page of templates and the cursor of the next page. The page's address
// states the text to search for.
func (h *Templates) find(r *http.Request, v people.Visitor) ([]template, string, error) {
	q, cursor := r.URL.Query().Get("q"), r.URL.Query().Get(frame.ParamCursor)
	if q == "" {
		return h.list(r, v, cursor)
	}
	if len(q) > maxQuery {
		return nil, "", core.Invalid("q", "must have at most 100 bytes")
	}
	page, err := h.stored.Search(r.Context(), v.Org.ID, strings.ToValidUTF8(q, ""), cursor, frame.PageSize)
	if err != nil {
		return nil, "", err
	}
	var found []template
	for _, t := range page.Items {
		found = append(found, template{Slug: t.Slug, Name: t.Name, DeployedName: t.DeployedName, Subject: t.Subject, LastModified: t.LastModified.Format(time.RFC3339)})
	}
	return found, page.Next, nil
}

// tagOf returns the tag that the page's address names, "" if it names none or searches for a
// text.
func tagOf(r *http.Request) string {
	query := r.URL.Query()
	if query.Get("q") != "" {
		return ""
	}
	return query.Get("tag")
}

// list returns a page of all templates, or of those with the tag in the page's address, and
// the cursor of the next page.
func (h *Templates) list(r *http.Request, v people.Visitor, cursor string) ([]template, string, error) {
	var page frame.List[template]
	err := h.Read(r, v, "templates_list", frame.SetArguments(map[string]any{"limit": frame.PageSize, "cursor": cursor, "tag": tagOf(r)}), &page)
	return page.Data, page.Next(), err
}

// templatePage is the data of the page of one template.
type templatePage struct {
	Name, Slug, Version string
	Subject, Text, HTML string
	Changed, Read       frame.When
	Variables           []variable
	Faults              []string // what is wrong with the template
	// Findings are what the mail should do better. They do not keep it from being sent.
	Findings []finding
	Figures  figures
	// MayReport is true if the visitor may see the figures and the messages. Messages is the
	// list of messages that were sent with the template.
	MayReport bool
	Messages  string
	// Preview is the page with the rendered HTML, "" if the template has no HTML.
	Preview string
	// Tags are the names of its tags. EditTags is the page that sets them, "" if the visitor
	// may not.
	Tags     []string
	EditTags string
}

// variable is a variable that a template uses.
type variable struct {
	Name     string
	Required bool
}

// finding is something that a mail should do better.
type finding struct {
	Severity mailhtml.Severity
	Message  string
	Line     int // in the HTML; 0 if it is about the whole mail
}

// findingsOf checks the content of a template.
func findingsOf(t template) []finding {
	var all []finding
	for _, f := range mailhtml.Lint(mailhtml.Input{Subject: t.Subject, HTML: t.HTML, Text: t.Text}) {
		message, _ := core.VisibleText(f.Message)
		all = append(all, finding{f.Severity, message, f.Line})
	}
	return all
}

// showTemplate shows one template with its content as text.
func (h *Templates) showTemplate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var t template
	if err := h.Read(r, v, "templates_get", map[string]any{"slug": r.PathValue("slug")}, &t); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	reads, err := h.stored.ReadTimes(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	performance, err := h.performance(r, v, t.DeployedName)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := templatePage{
		Name: frame.PlainName(t.Name), Slug: t.Slug, Version: t.Version, Subject: t.Subject, Text: t.Text, HTML: t.HTML,
		Changed: h.WhenText(t.LastModified), Read: h.When(reads[t.DeployedName]), Faults: t.Diagnostics, Findings: findingsOf(t),
		MayReport: v.Member.Has(members.MayViewAnalytics), Figures: performance[strings.ToLower(t.DeployedName)],
		Messages: frame.Address(frame.Path+"/messages", frame.Parameters{"template": t.DeployedName}),
	}
	for _, used := range t.Variables {
		data.Variables = append(data.Variables, variable{frame.PlainName(used.Name), used.Required})
	}
	for _, name := range t.Tags {
		data.Tags = append(data.Tags, frame.PlainName(name))
	}
	if v.Member.Has(members.MayManageContent) || v.Member.Has(members.MayManageCampaigns) {
		data.EditTags = TemplatesPath + "/" + url.PathEscape(t.Slug) + "/tags"
	}
	if t.HTML != "" {
		data.Preview = TemplatesPath + "/" + url.PathEscape(t.Slug) + "/preview"
		allowPreview(w)
	}
	head := frame.Head{Title: data.Name}
	if data.MayReport {
		head.Actions = []frame.Action{{Path: data.Messages, Name: "View messages"}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "template", Title: data.Name, Head: head, Data: data})
}
