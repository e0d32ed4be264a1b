package frame

import (
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Handler answers one request to a dashboard page. The frame has checked before that the
// visitor is signed in and has the route's permission, and that a form has a valid token.
type Handler func(w http.ResponseWriter, r *http.Request, v people.Visitor)

// Route is one path of the dashboard, with the permission that it needs and its handlers.
type Route struct {
	// Path is the route's path after the common prefix of the dashboard, the constant
	// [Path]. It has the syntax of [http.ServeMux], without a method.
	Path string
	// Needs is the permission that a visitor must have. "" admits every member.
	Needs members.Permission
	// AlsoNeeds are further permissions that handlers of the page check for parts of it.
	AlsoNeeds []members.Permission
	// Deleted admits the visitors of a deleted organization too. All other pages lead them to
	// the page [DeletedPath].
	Deleted bool
	// Get must not change data. A method whose handler is nil is answered with 405.
	Get, Post Handler
	// MaxForm is the maximum size of the form that Post handles, in bytes, if it is larger than
	// other forms may be. 0 means the limit of the sign-in pages.
	MaxForm int64
	// Upload handles a form that sends a file, instead of Post. MaxUpload is the maximum
	// size of the request in bytes.
	Upload    UploadHandler
	MaxUpload int64
}

// Mux returns a handler for the routes. Any other path gets the page of status 404. Mux
// panics if two routes have the same path, as [http.ServeMux] does.
func (f *Frame) Mux(routes []Route) (*http.ServeMux, error) {
	own, err := f.Pages(embed.FS{})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, r := range routes {
		f.needed[r.Needs] = true
		for _, p := range r.AlsoNeeds {
			f.needed[p] = true
		}
		mux.Handle(Path+r.Path, own.handler(r))
		f.paths = append(f.paths, Path+r.Path)
	}
	f.paths = append(f.paths, scriptPath)
	mux.HandleFunc(scriptPath, serveScript)
	mux.Handle("/", own.handler(Route{Get: own.NoSuchPage, Post: own.NoSuchPage}))
	return mux, nil
}

// handler returns the handler of a route. It first runs the checks that every page needs:
// [Site.Protect], sign-in and the permission. For a POST it also checks the form token.
func (p *Pages) handler(r Route) http.Handler {
	methods := map[string]http.HandlerFunc{}
	if r.Get != nil {
		methods[http.MethodGet] = p.admit(r, r.Get)
	}
	if r.Post != nil && r.MaxForm > 0 {
		methods[http.MethodPost] = p.admit(r, p.readLargeForm(p.checkToken(r.Post)))
		return p.Site.ProtectUpload(methods, r.MaxForm)
	}
	if r.Post != nil {
		methods[http.MethodPost] = p.admit(r, p.checkToken(r.Post))
	}
	if r.Upload != nil {
		methods[http.MethodPost] = p.admit(r, p.readUpload(r.Upload))
		return p.Site.ProtectUpload(methods, r.MaxUpload)
	}
	return p.Site.Protect(methods)
}

// admit returns a handler that calls next for signed-in visitors with the permission of the
// route. Other visitors are redirected to the sign-in page or refused.
func (p *Pages) admit(route Route, next Handler) http.HandlerFunc {
	needs := route.Needs
	return func(w http.ResponseWriter, r *http.Request) {
		allowScript(w)
		v, ok := p.Site.Admit(w, r)
		if !ok {
			return
		}
		if err := p.Pace(r.Context(), v.User.ID); err != nil {
			p.Fail(w, r, v, err)
			return
		}
		if v.Org.IsDeleted() && !route.Deleted {
			p.refuseDeleted(w, r, v)
			return
		}
		if needs != "" && !v.Member.Has(needs) {
			p.Refuse(w, r, v, http.StatusForbidden, "Permission missing",
				"You need the permission "+string(needs)+" in "+v.Org.Name+". Ask a member who may manage members.")
			return
		}
		next(w, p.withOwnWrites(w, r), v)
	}
}

// refuseDeleted answers a request for a page of a deleted organization. It redirects to the page
// that says so; a form is refused.
func (p *Pages) refuseDeleted(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		SeeOther(w, DeletedPath)
		return
	}
	e := core.OrgDeleted(v.Org)
	p.Refuse(w, r, v, http.StatusForbidden, e.Message, "Nothing was changed. "+e.NextStep())
}
