package templates

import (
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

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
	// Managed is true for a template that was written here, and Git for one of the repository.
	// Invalid is true for one with faults.
	Managed, Git, Invalid bool

	Changed, Read frame.When
	Figures       figures
}

// showTemplates shows the templates of the sending account, the newest first.
func (h *Templates) showTemplates(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	found, next, err := h.find(r, v)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	reads, err := h.Stored.ReadTimes(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{All: TemplatesPath, Query: query.Get("q"), MayReport: v.Member.Has(members.MayViewAnalytics), Empty: frame.Empty{
		Text: "There are no templates. Write one here. Templates that are created in the sending account appear here within 15 minutes.",
	}}
	head := frame.Head{
		Title: "Templates", Lead: "Email templates of the sending account, and those written here. Figures are of the last 30 days.",
	}
	if mayWrite(v) {
		head.Actions = []frame.Action{{Path: newPath, Name: "New template", Primary: true}}
		data.Empty.Action = &frame.Action{Path: newPath, Name: "New template"}
	}
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
			Path: pathOf(t.Slug), Managed: t.isManaged() && !t.isFromGit(), Git: t.isFromGit(), Invalid: t.Validation == "invalid", Name: frame.PlainName(t.Name), Slug: t.Slug, Subject: frame.PlainName(t.Subject),
			Changed: h.WhenText(t.LastModified), Read: h.When(reads[t.DeployedName]), Figures: performance[strings.ToLower(t.DeployedName)],
		})
	}
	data.Pager = frame.PagerOf(TemplatesPath, query, len(data.Rows), next, -1)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "templates", Title: "Templates", Data: data, Head: head})
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
	page, err := h.Stored.Search(r.Context(), v.Org.ID, strings.ToValidUTF8(q, ""), cursor, frame.PageSize)
	if err != nil {
		return nil, "", err
	}
	var found []template
	for _, t := range page.Items {
		found = append(found, template{Slug: t.Slug, Name: t.Name, Source: t.Source, DeployedName: t.DeployedName, Subject: t.Subject, Validation: t.Validation, LastModified: t.LastModified.Format(time.RFC3339)})
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
