package frame

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
)

// Area is an entry of the navigation. It is marked as current on its page and on the pages
// below its path.
type Area struct{ Path, Name string }

// nav is the data of the template "nav".
type nav struct {
	Org   core.Org
	User  access.User
	Links []link
	// Others are the other organizations of the visitor, to which they can switch.
	Others []core.Org
	// The field Here has the path of the page that opens after switching to another
	// organization. It is the page of a navigation entry, because the record on the current
	// page belongs to the current organization.
	Here string
}

// link is the data of one entry in a page's navigation menu.
type link struct {
	Path, Name string
	// the value of aria-current in the link; "" if the entry is not marked as current
	Current string
}

// navigation returns the data of the navigation for the requested page. It fails if the
// visitor's organizations cannot be read.
func (f *Frame) navigation(r *http.Request, v people.Visitor) (nav, error) {
	n := nav{Org: v.Org, User: v.User, Here: f.areaOf(r.URL.Path)}
	for _, a := range f.Areas {
		l := link{Path: a.Path, Name: a.Name}
		switch {
		case a.Path == r.URL.Path:
			l.Current = "page"
		case a.Path == n.Here && a.Path != Path:
			l.Current = "true" // the page is inside the area, not the area's own page
		}
		n.Links = append(n.Links, l)
	}
	orgs, err := f.Organizations.OrganizationsOf(r.Context(), v.User.ID)
	if err != nil {
		return nav{}, fmt.Errorf("organizations of a person: %w", err)
	}
	n.Others = slices.DeleteFunc(orgs, func(org core.Org) bool { return org.ID == v.Org.ID })
	return n, nil
}

// areaOf returns the path of the navigation entry to which a page belongs. For a page
// without an entry it returns [Path], the overview.
func (f *Frame) areaOf(path string) string {
	area := Path
	for _, a := range f.Areas {
		if path == a.Path || a.Path != Path && strings.HasPrefix(path, a.Path+"/") {
			area = a.Path
		}
	}
	return area
}
