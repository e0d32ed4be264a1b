package frame

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

//go:embed pages/*.html
var templates embed.FS

// shared are the frame's template files that belong to every page.
var shared = []string{"pages/layout.html", "pages/nav.html", "pages/parts.html"}

// Pages has the page templates of one package. The page handlers of the package embed it.
type Pages struct {
	*Frame
	// functions that return the parsed template of a page, by page name
	pages map[string]func() (*template.Template, error)
}

// Pages returns the pages in the files pages/*.html of the file system room, and the pages
// of the frame. Each page is parsed when it is first shown: all templates together take 2
// MB, which most processes never need. pages/parts.html is not a page; every page is parsed
// with it.
func (f *Frame) Pages(room fs.FS) (*Pages, error) {
	p := &Pages{Frame: f, pages: map[string]func() (*template.Template, error){}}
	for _, own := range []string{"refusal", "surrounded"} {
		p.pages[own] = sync.OnceValues(func() (*template.Template, error) {
			return f.Site.ParsePage(templates, append(slices.Clone(shared), "pages/"+own+".html")...)
		})
	}
	files, err := fs.Glob(room, "pages/*.html")
	if err != nil {
		return nil, err
	}
	var parts []string
	if slices.Contains(files, partsFile) {
		parts = []string{partsFile}
	}
	for _, file := range files {
		if file == partsFile {
			continue
		}
		p.pages[strings.TrimSuffix(path.Base(file), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			page, err := f.Site.ParsePage(templates, shared...)
			if err != nil {
				return nil, err
			}
			return page.ParseFS(room, append(slices.Clone(parts), file)...)
		})
	}
	return p, nil
}

// partsFile has the templates that several pages of one package use.
const partsFile = "pages/parts.html"

// Names returns the sorted names of the pages.
func (p *Pages) Names() []string {
	names := make([]string, 0, len(p.pages))
	for name := range p.pages {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Template returns the parsed template of a page. It fails for an unknown name.
func (p *Pages) Template(name string) (*template.Template, error) {
	parse, ok := p.pages[name]
	if !ok {
		return nil, fmt.Errorf("dashboard: no page %q", name)
	}
	return parse()
}

// Screen is the content of one response: the name of the page's template, its title and its
// data.
type Screen struct {
	Page  string // the name of the page's file in pages/, without .html
	Title string
	// Head is the top of the page. Its Title, if it is "", is the Title above.
	Head Head
	// OwnHeading is true if the template of the page writes its own heading instead of Head.
	OwnHeading bool
	// Notice reports a success at the top of the page. Problem is the error of a form. Both
	// may be "".
	Notice, Problem string
	Data            any // the data of the template "page"
}

// layout is the data of the template "content", which has the navigation and the page.
type layout struct {
	// Alone is true for a page without the navigation.
	Alone           bool
	Nav             nav
	Head            head
	Notice, Problem string
	// Stopped is true if no mail of the organization leaves. StopPath is the page on which the
	// visitor can allow it again, "" if the visitor may not.
	Stopped  bool
	StopPath string
	Data     any
}

// Show writes a page with the navigation around it.
func (p *Pages) Show(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, s Screen) {
	around, err := p.navigation(r, v)
	if err != nil {
		p.Site.Fail(w, r, err)
		return
	}
	data := layout{Nav: around, Head: p.headOf(r, s), Notice: s.Notice, Problem: s.Problem, Data: s.Data}
	if p.MailStopped != nil && !v.Org.IsDeleted() {
		if data.Stopped, err = p.MailStopped(r.Context(), v.Org.ID); err != nil {
			p.Site.Fail(w, r, err)
			return
		}
	}
	if v.Member.Has(members.MayManageCampaigns) && r.URL.Path != StopPath {
		data.StopPath = StopPath
	}
	p.write(w, r, status, s, data)
}

// ShowAlone writes a page without navigation, for visitors who may not be signed in. The
// file of such a page must define the template "content" instead of the template "page".
func (p *Pages) ShowAlone(w http.ResponseWriter, r *http.Request, status int, s Screen) {
	p.write(w, r, status, s, layout{Alone: true, Data: s.Data})
}

// write executes the template of page s.Page and writes the result. If the template cannot
// be parsed, it writes the page for an internal failure.
func (p *Pages) write(w http.ResponseWriter, r *http.Request, status int, s Screen, data layout) {
	page, err := p.Template(s.Page)
	if err != nil {
		p.Site.Fail(w, r, err)
		return
	}
	p.Site.Show(w, r, status, page, s.Title, data)
}

// refusal is the data of the page that refuses a request. Back is the path of its link.
type refusal struct{ Heading, Text, Back string }

// Refuse writes a page: heading says what is wrong, text what to do. The page links back to
// the area of the dashboard that the request's path belongs to.
func (p *Pages) Refuse(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, heading, text string) {
	p.Show(w, r, v, status, Screen{Page: "refusal", Title: heading, Data: refusal{Heading: heading, Text: text, Back: p.areaOf(r.URL.Path).Path}})
}

// NoSuchPage writes the page of status 404, with the navigation.
func (p *Pages) NoSuchPage(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	p.Refuse(w, r, v, http.StatusNotFound, "Page not found", "It may belong to another of your organizations, or it was deleted. Go back, or switch to the other organization.")
}

// Fail writes the page for an error, with the navigation. A refusal is shown with its own
// message. Any other error is shown as an internal failure, and its cause is only logged.
func (p *Pages) Fail(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	e := core.AsError(err)
	switch e.Code {
	case core.CodeInternalError, core.CodeTemporarilyUnavailable:
		p.Site.Fail(w, r, err)
	case core.CodeNotFound:
		p.NoSuchPage(w, r, v)
	default:
		p.Refuse(w, r, v, e.HTTPStatus(), e.Message, e.NextStep())
	}
}
