package templates

import (
	"context"
	"embed"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// TemplatesPath is the path of the list of templates.
const TemplatesPath = frame.Path + "/templates"

// Syncs reads when templates were copied from the sending account.
type Syncs interface {
	// ReadTimes returns the time at which each template was last read from the account, by
	// the template's name.
	ReadTimes(ctx context.Context, orgID string) (map[string]time.Time, error)
}

// Templates has the pages about templates; see dashboard.Room.
type Templates struct {
	syncs Syncs
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates of the pages cannot be
// read.
func New(f *frame.Frame, syncs Syncs) (*Templates, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Templates{syncs, own}, nil
}

// Routes returns the routes of all pages of this package.
func (h *Templates) Routes() []frame.Route {
	return []frame.Route{
		{Path: "/templates", Needs: members.MayViewContent, Get: h.showTemplates},
		{Path: "/templates/{slug}", Needs: members.MayViewContent, Get: h.showTemplate},
	}
}

// template has the members of a template that the pages show.
type template struct {
	Slug         string   `json:"slug"`
	Name         string   `json:"name"`
	Subject      string   `json:"subject"`
	Version      string   `json:"version"`
	LastModified string   `json:"last_modified_at"`
	HTML         string   `json:"html"`
	Text         string   `json:"text"`
	Validation   string   `json:"validation_status"`
	Diagnostics  []string `json:"diagnostics"`
	DeployedName string   `json:"deployed_name"`
	Variables    []struct {
		Name     string `json:"name"`
		Required bool   `json:"required"`
	} `json:"variables"`
}

// listPage is the data of the page that lists templates.
type listPage struct {
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
	arguments := map[string]any{"limit": frame.PageSize}
	if cursor := query.Get(frame.ParamCursor); cursor != "" {
		arguments["cursor"] = cursor
	}
	var page struct {
		Data       []template `json:"data"`
		Pagination struct {
			Next string `json:"next_cursor"`
		} `json:"pagination"`
	}
	if err := h.Read(r, v, "templates_list", arguments, &page); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	reads, err := h.syncs.ReadTimes(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{MayReport: v.Member.Has(members.MayViewAnalytics), Empty: frame.Empty{
		Text: "The sending account has no templates. Templates that are created there appear here within 15 minutes.",
	}}
	performance, err := h.performance(r, v, "")
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	for _, t := range page.Data {
		data.Rows = append(data.Rows, row{
			Path: TemplatesPath + "/" + url.PathEscape(t.Slug), Name: frame.PlainName(t.Name), Slug: t.Slug, Subject: frame.PlainName(t.Subject),
			Changed: h.WhenText(t.LastModified), Read: h.When(reads[t.Name]), Figures: performance[strings.ToLower(t.Name)],
		})
	}
	data.Pager = frame.PagerOf(TemplatesPath, query, len(data.Rows), page.Pagination.Next, -1)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "templates", Title: "Templates", Data: data, Head: frame.Head{
		Title: "Templates", Lead: "Email templates of the sending account, as Mailhelm last read them. Figures are of the last 30 days.",
	}})
}

// templatePage is the data of the page of one template.
type templatePage struct {
	Name, Slug, Version string
	Subject, Text, HTML string
	Changed, Read       frame.When
	Variables           []variable
	Faults              []string // what is wrong with the template
	Figures             figures
	// MayReport is true if the visitor may see the figures and the messages. Messages is the
	// list of messages that were sent with the template.
	MayReport bool
	Messages  string
}

// variable is a variable that a template uses.
type variable struct {
	Name     string
	Required bool
}

// showTemplate shows one template with its content as text.
func (h *Templates) showTemplate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var t template
	if err := h.Read(r, v, "templates_get", map[string]any{"slug": r.PathValue("slug")}, &t); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	reads, err := h.syncs.ReadTimes(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	performance, err := h.performance(r, v, t.Name)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := templatePage{
		Name: frame.PlainName(t.Name), Slug: t.Slug, Version: t.Version, Subject: t.Subject, Text: t.Text, HTML: t.HTML,
		Changed: h.WhenText(t.LastModified), Read: h.When(reads[t.Name]), Faults: t.Diagnostics,
		MayReport: v.Member.Has(members.MayViewAnalytics), Figures: performance[strings.ToLower(t.Name)],
		Messages: frame.Path + "/messages?" + url.Values{"template": {t.Name}}.Encode(),
	}
	for _, used := range t.Variables {
		data.Variables = append(data.Variables, variable{frame.PlainName(used.Name), used.Required})
	}
	head := frame.Head{Title: data.Name}
	if data.MayReport {
		head.Actions = []frame.Action{{Path: data.Messages, Name: "View messages"}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "template", Title: data.Name, Head: head, Data: data})
}
