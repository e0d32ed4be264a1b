package approvals

import (
	"html"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// mailPolicy is the content security policy of a rendered mail. Its HTML comes from a
// stranger, so it gets an origin of its own. It runs no script, sends no form, and loads
// nothing over the network. Only the dashboard may show it in a frame.
const mailPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// showMail writes the mail of a send that waits, rendered for a member of its audience. A
// browser that opens the address outside of a frame is redirected to the page of the
// approval, so that no link leads to a stranger's page under the address of the dashboard.
func (h approvalHandlers) showMail(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	if into := r.Header.Get("Sec-Fetch-Dest"); into != "" && into != "iframe" {
		frame.SeeOther(w, PathOf(id))
		return
	}
	c, err := h.Desk.Case(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if c.Approval.State != approvals.Pending || c.Now == nil {
		h.NoSuchPage(w, r, v)
		return
	}
	var preview struct {
		Sample *struct{ HTML, Text string }
	}
	if err := h.Read(r, v, "broadcasts_preview", map[string]string{"id": c.Approval.BroadcastID}, &preview); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	body := "<p>The audience has no members, so there is no message to show.</p>"
	if s := preview.Sample; s != nil {
		if body = s.HTML; body == "" {
			body = "<pre>" + html.EscapeString(s.Text) + "</pre>"
		}
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", mailPolicy)
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(body)) // an error means that the client has disconnected
}

// allowPreview extends the content security policy of a page: it may show pages of this
// host in frames. A link in a mail then leads to no other host.
func allowPreview(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Security-Policy", header.Get("Content-Security-Policy")+"; frame-src 'self'")
}
