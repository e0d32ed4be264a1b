package dashboard

import (
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// shared are the template files that every page is made with. They and the
// page's own file, which defines "page", are all that is in pages/.
var shared = []string{"pages/layout.html", "pages/nav.html", "pages/parts.html"}

// listPages finds the pages. Each is parsed when it is first shown: all of them are 2 MB
// of memory, in processes of which most show none.
func (d *Dashboard) listPages() error {
	files, err := fs.Glob(templates, "pages/*.html")
	if err != nil {
		return err
	}
	d.pages = map[string]func() (*template.Template, error){}
	for _, file := range files {
		if strings.HasPrefix(file, "pages/layout.") || strings.HasPrefix(file, "pages/nav.") || strings.HasPrefix(file, "pages/parts.") {
			continue
		}
		d.pages[strings.TrimSuffix(path.Base(file), ".html")] = sync.OnceValues(func() (*template.Template, error) {
			return d.Frame.ParsePage(templates, append(slices.Clone(shared), file)...)
		})
	}
	return nil
}

// showPage shows a page by its name in pages/.
func (d *Dashboard) showPage(w http.ResponseWriter, r *http.Request, status int, name, title string, data layout) {
	parse, is := d.pages[name]
	if !is {
		d.Frame.Fail(w, r, fmt.Errorf("dashboard: no page %q", name))
		return
	}
	page, err := parse()
	if err != nil {
		d.Frame.Fail(w, r, err)
		return
	}
	d.Frame.Show(w, r, status, page, title, data)
}

// screen is one page as it is shown.
type screen struct {
	page  string // the name of its file in pages/, without the ending
	title string
	// notice is good news above the page, problem what keeps a form from being
	// carried out; "" is neither.
	notice, problem string
	data            any // what the template "page" gets
}

// layout is what the template "content" gets.
type layout struct {
	Nav             nav
	Notice, Problem string
	Data            any
}

// show writes a page with the navigation around it.
func (d *Dashboard) show(w http.ResponseWriter, r *http.Request, v access.Visitor, status int, s screen) {
	around, err := d.navigation(r, v)
	if err != nil {
		d.Frame.Fail(w, r, err)
		return
	}
	d.showPage(w, r, status, s.page, s.title, layout{Nav: around, Notice: s.notice, Problem: s.problem, Data: s.data})
}

// refusal is what the page of a refusal says.
type refusal struct{ Heading, Text, Back string }

// refuse answers with a page that says what is wrong and what to do.
func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request, v access.Visitor, status int, heading, text string) {
	d.show(w, r, v, status, screen{page: "refusal", title: heading, data: refusal{Heading: heading, Text: text, Back: areaOf(r.URL.Path)}})
}

// fail answers an error: a refusal in its own words and with the navigation,
// anything else as a failure of ours.
func (d *Dashboard) fail(w http.ResponseWriter, r *http.Request, v access.Visitor, err error) {
	e := core.AsError(err)
	switch e.Code {
	case core.CodeInternalError, core.CodeTemporarilyUnavailable:
		d.Frame.Fail(w, r, err)
	case core.CodeNotFound:
		d.noSuchPage(w, r, v)
	default:
		d.refuse(w, r, v, e.HTTPStatus(), e.Message, e.NextStep())
	}
}
