package dashboard

import (
	"net/http"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// Areas are the entries of the dashboard's navigation, in order. Each leads to a page of
// the dashboard, except the last, which belongs to the sign-in pages.
var Areas = []frame.Area{
	{Path: frame.Path, Name: "Overview"},
	{Path: frame.Path + "/health", Name: "Sending health"},
	{Path: frame.Path + "/account", Name: "Sending account"},
	{Path: frame.Path + "/channels", Name: "Channels"},
	{Path: frame.Path + "/undeliverable", Name: "Undeliverable"},
	{Path: frame.Path + "/keys", Name: "API keys"},
	{Path: frame.Path + "/clients", Name: "Applications"},
	{Path: frame.Path + "/grants", Name: "Access"},
	{Path: frame.Path + "/members", Name: "Members"},
	{Path: frame.Path + "/settings", Name: "Settings"},
	{Path: frame.Path + "/audit", Name: "Audit log"},
	{Path: frame.SecurityPath, Name: "Your security"},
}

// Room is a package with dashboard pages about related subjects. Routes returns the paths,
// required permissions and handlers of its pages.
type Room interface {
	Routes() []frame.Route
}

// Mount returns the handler of all pages below [frame.Path]. A room is a package with some
// of these pages. Mount panics if two pages have the same path.
func Mount(f *frame.Frame, rooms ...Room) (*http.ServeMux, error) {
	var routes []frame.Route
	for _, room := range rooms {
		routes = append(routes, room.Routes()...)
	}
	return f.Mux(routes)
}
