package frame

import (
	"cmp"
	"net/http"
)

// Head is the top of a page: its heading with a count, and its buttons.
type Head struct {
	// Title is the heading. "" means the title of the screen.
	Title string
	// Count stands beside the heading, as from [core.WithCommas]. "" means none.
	Count string
	// Lead is a sentence below the heading that says what the page is for, or "".
	Lead string
	// Parents are the pages between the page of the area and this page, outermost first.
	Parents []Link
	// Actions are the buttons of the page, at most two. One that destroys is never the
	// first.
	Actions []Action
}

// Heading returns the heading, whose addresses and host names are broken at their separators.
func (h Head) Heading() Wrapped { return Wrapped(h.Title) }

// Link is a link to another page.
type Link struct{ Path, Name string }

// Action is a link in the form of a button. Its name begins with a verb.
type Action struct {
	Path, Name string
	// Primary marks the most likely next step of the page. Danger marks a step that destroys.
	Primary, Danger bool
}

// head is the data of the template "head": a Head with the complete path of links to it.
type head struct {
	Head
	Group  string
	Crumbs []Link
}

// headOf returns the head of the requested page, without a title if the page has its own
// heading. A page that is not the area's own page gets a link to it.
func (f *Frame) headOf(r *http.Request, s Screen) head {
	area, h := f.areaOf(r.URL.Path), s.Head
	if s.OwnHeading {
		return head{}
	}
	h.Title = cmp.Or(h.Title, s.Title)
	shown := head{Head: h, Group: area.Group}
	if area.Path != r.URL.Path && area.Path != Path {
		shown.Crumbs = append(shown.Crumbs, Link{area.Path, area.Name})
	}
	shown.Crumbs = append(shown.Crumbs, h.Parents...)
	return shown
}
