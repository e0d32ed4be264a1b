package dashboard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// securityPath is the page of one's own second factors, which belongs to signing in.
const securityPath = "/account/security"

// areas are the entries of the navigation, in their order.
var areas = []struct{ path, name string }{
	{Path, "Overview"},
	{healthPath, "Sending health"},
	{accountPath, "Sending account"},
	{channelsPath, "Channels"},
	{undeliverablePath, "Undeliverable"},
	{Path + "/keys", "API keys"},
	{Path + "/clients", "Applications"},
	{Path + "/grants", "Access"},
	{Path + "/members", "Members"},
	{Path + "/settings", "Settings"},
	{Path + "/audit", "Audit log"},
	{securityPath, "Your security"},
}

// nav is what the template "nav" gets.
type nav struct {
	Org   core.Org
	User  access.User
	Links []link
	// Others are the organizations that the visitor may switch to.
	Others []core.Org
	// Here is where switching leads: the area, because a single thing in it is
	// the other organization's.
	Here string
}

type link struct {
	Path, Name string
	Current    string // the value of aria-current, "" when it is not
}

func (d *Dashboard) navigation(r *http.Request, v access.Visitor) (nav, error) {
	n := nav{Org: v.Org, User: v.User, Here: areaOf(r.URL.Path)}
	for _, a := range areas {
		l := link{Path: a.path, Name: a.name}
		switch {
		case a.path == r.URL.Path:
			l.Current = "page"
		case a.path == n.Here && a.path != Path:
			l.Current = "true" // a page inside the area
		}
		n.Links = append(n.Links, l)
	}
	orgs, err := d.Members.OrganizationsOf(r.Context(), v.User.ID)
	if err != nil {
		return nav{}, fmt.Errorf("organizations of a person: %w", err)
	}
	n.Others = slices.DeleteFunc(orgs, func(org core.Org) bool { return org.ID == v.Org.ID })
	return n, nil
}

// areaOf is the path of the area that a path is in.
func areaOf(path string) string {
	found := Path
	for _, a := range areas {
		if path == a.path || a.path != Path && strings.HasPrefix(path, a.path+"/") {
			found = a.path
		}
	}
	return found
}
