package dashboard

import (
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core/access"
)

// page answers one request of somebody who was admitted and may be here. A form
// that reaches it has proven its token.
type page func(w http.ResponseWriter, r *http.Request, v access.Visitor)

// route is one path of the dashboard. Each area lists its own in its own file.
type route struct {
	// path is below [Path], in the grammar of [http.ServeMux] without a method.
	path string
	// needs is what a member must be allowed to; "" lets every member in.
	needs access.Permission
	// get must change nothing. A page that is nil answers its method with 405.
	get, post page
}

// routes are all areas'.
func (d *Dashboard) routes() []route {
	return slices.Concat(
		d.overviewPages(),
		d.healthPages(),
		d.keyPages(),
		d.clientPages(),
		d.blockedPages(),
		d.grantPages(),
		d.accountPages(),
		d.connectPages(),
		d.channelPages(),
		d.membersPages(),
		d.settingsPages(),
		d.auditPages(),
		d.undeliverablePages(),
	)
}

// handler puts a route's pages behind what all of them need, so that none can
// forget it: the frame's protection, who it is, the permission, and the token of
// a form.
func (d *Dashboard) handler(r route) http.Handler {
	methods := map[string]http.HandlerFunc{}
	if r.get != nil {
		methods[http.MethodGet] = d.admitted(r.needs, r.get)
	}
	if r.post != nil {
		methods[http.MethodPost] = d.admitted(r.needs, d.proven(r.post))
	}
	return d.Frame.Protect(methods)
}

func (d *Dashboard) admitted(needs access.Permission, next page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, ok := d.Frame.Admit(w, r)
		if !ok {
			return
		}
		if needs != "" && !d.mayOrRefuse(w, r, v, needs) {
			return
		}
		next(w, r, v)
	}
}

// mayOrRefuse reports whether the visitor has the permission. It has answered
// with a page that names it when it returns false.
func (d *Dashboard) mayOrRefuse(w http.ResponseWriter, r *http.Request, v access.Visitor, p access.Permission) bool {
	if v.Member.Has(p) {
		return true
	}
	d.refuse(w, r, v, http.StatusForbidden, "You do not have the permission for this",
		"It takes the permission "+string(p)+" in "+v.Org.Name+". Somebody who manages its members can give it to you.")
	return false
}

func (d *Dashboard) noSuchPage(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.refuse(w, r, v, http.StatusNotFound, "There is no such page",
		"It may belong to another organization of yours, or be gone.")
}
