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

// Area is an entry of the navigation. Pages below its path belong to it.
type Area struct{ Path, Name string }

// nav is the data of the template "nav".
type nav struct {
	Org   core.Org
	User  access.User
	Links []link
	// Others are the organizations that the visitor may switch to.
	Others []core.Org
	// Here is the page that opens after switching the organization: the area, because the
	// records in it belong to the present organization.
	Here string
}

// link is an entry of the navigation.
type link struct {
	Path, Name string
	Current    string // the value of aria-current; "" for other areas
}

// navigation returns the data of the navigation for the page of the request. It fails when
// the organizations cannot be read.
func (f *Frame) navigation(r *http.Request, v people.Visitor) (nav, error) {
	n := nav{Org: v.Org, User: v.User, Here: f.areaOf(r.URL.Path)}
	for _, a := range f.Areas {
		l := link{Path: a.Path, Name: a.Name}
		switch {
		case a.Path == r.URL.Path:
			l.Current = "page"
		case a.Path == n.Here && a.Path != Path:
			l.Current = "true" // a page inside the area
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

// areaOf returns the path of the area that contains a path, or [Path].
func (f *Frame) areaOf(path string) string {
	area := Path
	for _, a := range f.Areas {
		if path == a.Path || a.Path != Path && strings.HasPrefix(path, a.Path+"/") {
			area = a.Path
		}
	}
	return area
}
