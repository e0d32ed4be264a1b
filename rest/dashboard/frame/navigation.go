package frame

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Area is an entry of the sidebar. It is marked as current on its page and on the pages
// below its path.
type Area struct {
	// Group is the heading under which the entry stands. Entries of a group follow one
	// another. The entries without a group come first.
	Group      string
	Path, Name string
	// Needs is the permission without which a visitor does not see the entry. "" shows it to
	// every member.
	Needs members.Permission
	// Key is the letter that opens the page after the letter g on the keyboard, or "".
	Key string
}

// nav is the data of the template "nav".
type nav struct {
	Org    core.Org
	User   access.User
	Groups []group
	// Others are the other organizations of the visitor, to which they can switch.
	Others []core.Org
	// The field Here has the path of the page that opens after switching to another
	// organization. It is the page of a sidebar entry, because the record on the current
	// page belongs to the current organization.
	Here           string
	Security, Docs string
}

// group is a heading of the sidebar, "" for none, with its entries.
type group struct {
	Name  string
	Links []link
}

// link is the data of one entry in the sidebar.
type link struct {
	Path, Name, Key string
	// the value of aria-current in the link; "" if the entry is not marked as current
	Current string
}

// navigation returns the data of the sidebar for the requested page. It fails if the
// visitor's organizations cannot be read.
func (f *Frame) navigation(r *http.Request, v people.Visitor) (nav, error) {
	n := nav{Org: v.Org, User: v.User, Here: f.areaOf(r.URL.Path).Path, Security: SecurityPath, Docs: f.DocsURL}
	for _, a := range f.Areas {
		if v.Org.IsDeleted() || a.Needs != "" && !v.Member.Has(a.Needs) {
			continue
		}
		l := link{Path: a.Path, Name: a.Name, Key: a.Key}
		switch {
		case a.Path == r.URL.Path:
			l.Current = "page"
		case a.Path == n.Here && a.Path != Path:
			l.Current = "true" // the page is inside the area, not the area's own page
		}
		n.add(a.Group, l)
	}
	orgs, err := f.Organizations.OrganizationsOf(r.Context(), v.User.ID)
	if err != nil {
		return nav{}, fmt.Errorf("organizations of a person: %w", err)
	}
	n.Others = slices.DeleteFunc(orgs, func(org core.Org) bool { return org.ID == v.Org.ID })
	return n, nil
}

// add appends an entry to the last group if it has this name, and otherwise to a new group.
func (n *nav) add(name string, l link) {
	if last := len(n.Groups) - 1; last >= 0 && n.Groups[last].Name == name {
		n.Groups[last].Links = append(n.Groups[last].Links, l)
		return
	}
	n.Groups = append(n.Groups, group{Name: name, Links: []link{l}})
}

// areaOf returns the sidebar entry to which a page belongs. For a page without an entry it
// returns the overview.
func (f *Frame) areaOf(path string) Area {
	area := Area{Path: Path, Name: "Home"}
	for _, a := range f.Areas {
		longer := len(a.Path) >= len(area.Path)
		if longer && (path == a.Path || a.Path != Path && strings.HasPrefix(path, a.Path+"/")) {
			area = a
		}
	}
	return area
}

// MayOpen reports whether the page at this path belongs to an entry of the sidebar that the
// visitor may see. Pages use it before they link to a page of another room.
func (f *Frame) MayOpen(v people.Visitor, path string) bool {
	area := f.areaOf(path)
	return area.Path != Path && (area.Needs == "" || v.Member.Has(area.Needs))
}
