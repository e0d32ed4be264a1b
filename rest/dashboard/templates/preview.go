package templates

import (
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// darkStyle makes a mail appear as in a mail program with a dark background: text and
// background without a colour of their own get these.
const darkStyle = "\n<style>:root{color-scheme:dark;background-color:#1f1f1f;color:#e8e8e8}</style>\n"

// showPreview writes the HTML of a template, rendered with the data that the address names.
// The HTML of a template with faults is written as it is stored. A browser that opens the
// address outside of a frame is redirected to the page of the template, so that no link
// leads to a stranger's page under the address of the dashboard.
func (h *Templates) showPreview(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !frame.IsForFrame(r) {
		frame.SeeOther(w, pathOf(r.PathValue("slug")))
		return
	}
	t, ok := h.read(w, r, v)
	if !ok {
		return
	}
	html := t.HTML
	if !t.isFaulty() {
		rendered, err := h.render(r, v, t)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		html = rendered.HTML
	}
	writePreview(w, html, r.URL.Query().Get(paramBackground) == dark)
}

// render renders a template with the data that the address of a preview names.
func (h *Templates) render(r *http.Request, v people.Visitor, t template) (stored.Preview, error) {
	query := r.URL.Query()
	with := stored.PreviewData{Profile: query.Get(paramSet), ContactID: query.Get(paramContact)}
	if with.ContactID != "" {
		if !v.Member.Has(members.MayViewContacts) {
			return stored.Preview{}, &core.Error{Code: core.CodeInvalidScope, Message: "A preview for a contact needs the permission " + string(members.MayViewContacts) + "."}
		}
		if !core.IsID(with.ContactID) {
			return stored.Preview{}, core.NotFound("contact")
		}
	}
	var err error
	if with.Values, err = parseObject(query.Get(paramData)); err != nil {
		return stored.Preview{}, err
	}
	d, err := t.draft()
	if err != nil {
		return stored.Preview{}, err
	}
	return h.Stored.Preview(r.Context(), v.Org.ID, d, with)
}

// writePreview writes the HTML of a mail for a frame.
func writePreview(w http.ResponseWriter, html string, onDark bool) {
	if onDark {
		html = withDarkStyle(html)
	}
	frame.WriteMail(w, html)
}

// withDarkStyle adds darkStyle to the head of a mail, where styles of the mail override it.
// A mail without a head gets it at the end: HTML before the document type would change how
// browsers render the mail.
func withDarkStyle(html string) string {
	lower := strings.ToLower(html)
	if at := strings.Index(lower, "<head>"); at >= 0 && len(lower) == len(html) {
		at += len("<head>")
		return html[:at] + darkStyle + html[at:]
	}
	return html + darkStyle
}
