package frame

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
)

// FieldToken is the field of a form that holds its token.
const FieldToken = "token"

// Form is the data of the template "form", which starts a form. The token is valid for one
// path, one session and one organization.
type Form struct{ Action, Token string }

// FormTo returns the start of a form that is sent to a path of this host.
func FormTo(v people.Visitor, path string) Form {
	return Form{Action: path, Token: v.FormToken(question(path))}
}

// question returns the text that binds a form's token to a path.
func question(path string) string { return "dashboard\x00" + path }

// checkToken returns a handler that refuses forms whose token does not fit the session, the
// organization and the path.
func (p *Pages) checkToken(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		if !v.FormTokenMatches(r.PostForm.Get(FieldToken), question(r.URL.Path)) {
			p.Refuse(w, r, v, http.StatusForbidden, "This page was outdated",
				"Nothing was changed. You may have signed in again or switched to another organization since then. Open the page again and repeat your change.")
			return
		}
		next(w, r, v)
	}
}

// SeeOther redirects after a form with 303, so that the browser sends GET (RFC 9110 section
// 15.4.4). location must be a path of this host, never input.
func SeeOther(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// RedirectWithNotice redirects to a page that shows the notice of this name; see
// [Notices].
func RedirectWithNotice(w http.ResponseWriter, path, notice string) {
	SeeOther(w, path+"?done="+notice)
}

// Notices has the sentences that a page can show at its top, by the name in its address. The
// address can only select a sentence.
type Notices map[string]string

// NoticeOf returns the notice that the request's address names, or "".
func (n Notices) NoticeOf(r *http.Request) string { return n[r.URL.Query().Get("done")] }

// Option is a choice of a select field.
type Option struct {
	Value, Name string
	Chosen      bool
}

// ChooseOption marks an option as chosen. A value that is not among the options is added,
// so that the form shows the filter that the page was asked for.
func ChooseOption(options []Option, chosen string) []Option {
	known := chosen == ""
	for i := range options {
		if options[i].Value == chosen {
			options[i].Chosen, known = true, true
		}
	}
	if !known {
		options = append(options, Option{Value: chosen, Name: chosen, Chosen: true})
	}
	return options
}
