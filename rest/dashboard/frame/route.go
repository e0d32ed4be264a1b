package frame

import (
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Handler answers one request of a visitor who was admitted and has the route's
// permission. The token of a form was checked before.
type Handler func(w http.ResponseWriter, r *http.Request, v people.Visitor)

// Route is one path of the dashboard.
type Route struct {
	// Path is below the constant [Path], in the syntax of [http.ServeMux] without a method.
	Path string
	// Needs is the permission that a visitor must have. "" admits every member.
	Needs members.Permission
	// Get must not change anything. Methods whose handler is nil are answered with 405.
	Get, Post Handler
}

// Mux returns the pages of the routes. Other paths get the page of status 404. It panics
// when two routes have the same path, as [http.ServeMux] does.
func (f *Frame) Mux(routes []Route) (*http.ServeMux, error) {
	own, err := f.Pages(embed.FS{})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(Path+r.Path, own.handler(r))
	}
	mux.Handle("/", own.handler(Route{Get: own.NoSuchPage, Post: own.NoSuchPage}))
	return mux, nil
}

// handler returns the handlers of a route behind the checks that every page needs: the
// site's protection, admission, the permission, and the token of a form.
func (p *Pages) handler(r Route) http.Handler {
	methods := map[string]http.HandlerFunc{}
	if r.Get != nil {
		methods[http.MethodGet] = p.admit(r.Needs, r.Get)
	}
	if r.Post != nil {
		methods[http.MethodPost] = p.admit(r.Needs, p.checkToken(r.Post))
	}
	return p.Site.Protect(methods)
}

// admit returns a handler for admitted visitors with the permission. Other visitors get the
// sign-in page or a refusal.
func (p *Pages) admit(needs members.Permission, next Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := p.Site.Admit(w, r)
		if !ok {
			return
		}
		if needs != "" && !v.Member.Has(needs) {
			p.Refuse(w, r, v, http.StatusForbidden, "Permission missing",
				"You need the permission "+string(needs)+" in "+v.Org.Name+". Ask a member who may manage members.")
			return
		}
		next(w, r, v)
	}
}
