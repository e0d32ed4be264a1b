package dashboard

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
)

// fieldToken is the form's member with its token.
const fieldToken = "token"

// form is what a page's form starts with; the template "form" writes it. The
// path that a form is sent to is the question that its token answers, so a form
// decides about one thing, for one session in one organization.
type form struct{ Action, Token string }

// formTo makes the start of a form that is sent to a path of this host.
func formTo(v access.Visitor, path string) form {
	return form{Action: path, Token: v.FormToken(question(path))}
}

func question(path string) string { return "dashboard\x00" + path }

// proven lets a form pass whose token is of this session, organization and path.
func (d *Dashboard) proven(next page) page {
	return func(w http.ResponseWriter, r *http.Request, v access.Visitor) {
		if !v.FormTokenMatches(r.PostForm.Get(fieldToken), question(r.URL.Path)) {
			d.refuse(w, r, v, http.StatusForbidden, "This page was no longer current",
				"Nothing was done. You may have signed in again or switched to another organization since it was shown. Open it again and repeat what you did.")
			return
		}
		next(w, r, v)
	}
}

// seeOther leads to a page after a form, which the browser asks for with GET
// (RFC 9110 section 15.4.4). location is a path of this host that the code made.
func seeOther(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// noticed leads to a page that shows the notice of this name; see [notices].
func noticed(w http.ResponseWriter, path, notice string) {
	seeOther(w, path+"?done="+notice)
}

// notices are the sentences that a page can show above itself, by the word in its
// address. The address chooses among them and cannot bring one along.
type notices map[string]string

func (n notices) of(r *http.Request) string { return n[r.URL.Query().Get("done")] }
