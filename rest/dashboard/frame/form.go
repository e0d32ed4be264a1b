package frame

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core/people"
)

// FieldToken is the name of the hidden form field with the form's token.
const FieldToken = "token"

// Form is the data of the template "form", which starts an HTML form. Its token protects
// against forged forms; it is valid for one path, one session and one organization.
type Form struct{ Action, Token string }

// FormTo returns the action and the token of a form that the visitor sends to a path of
// this host. The path may have percent-encoded segments, such as a slug with "/".
func FormTo(v people.Visitor, path string) Form {
	decoded, err := url.PathUnescape(path)
	if err != nil {
		decoded = path
	}
	return Form{Action: path, Token: v.FormToken(question(decoded))}
}

// question returns the text from which a form's token is computed. path is the path to
// which the form is submitted, without percent-encoding.
func question(path string) string { return "dashboard\x00" + path }

// checkToken returns a handler that calls next for forms with a valid token. It refuses
// forms whose token belongs to another session, organization or path.
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

// readLargeForm returns a handler that parses the form of a route with MaxForm and calls
// next. It runs after the sign-in check, so that other clients cannot send large forms.
func (p *Pages) readLargeForm(next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		p.Site.AllowUpload(w, r)
		if err := r.ParseForm(); err != nil {
			p.Refuse(w, r, v, http.StatusBadRequest, "The form could not be read", "It may be too large. Go back, shorten it and send it again.")
			return
		}
		next(w, r, v)
	}
}

// SeeOther answers a form with a redirect of status 303, which the browser follows with GET
// (RFC 9110 section 15.4.4). location must be a path of this host and must not come from
// input.
func SeeOther(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// RedirectWithNotice answers a form with a redirect to a page that shows the notice of this
// name; see [Notices].
func RedirectWithNotice(w http.ResponseWriter, path, notice string) {
	SeeOther(w, path+"?done="+notice)
}

// Notices has the messages that a page can show at its top, by name. The page's address
// contains only the name, so a link to the page cannot show other text.
type Notices map[string]string

// NoticeOf returns the message whose name is in the query parameter done, or "".
func (n Notices) NoticeOf(r *http.Request) string { return n[r.URL.Query().Get("done")] }

// Option is an option of a select field. Chosen marks the selected one.
type Option struct {
	Value, Name string
	Chosen      bool
}

// ChooseOption marks the option whose value equals the parameter chosen. If no option has
// this value and chosen is not "", ChooseOption adds and marks an option with this value,
// so that the form shows any filter that the page's URL contains.
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
