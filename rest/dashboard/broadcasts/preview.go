package broadcasts

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// previewPolicy is the content security policy of a preview. The HTML of a mail comes from a
// stranger, so it gets an origin of its own. It runs no script, sends no form, and loads
// nothing over the network. Only the dashboard may show it in a frame.
const previewPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// showPreview writes the HTML of the message to the contact in the query parameter contact,
// or to a member of the audience. A browser that opens the address outside of a frame is
// redirected to the page of the broadcast, so that no link leads to a stranger's page under
// the address of the dashboard.
func (h *Room) showPreview(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.read(w, r, v)
	if !ok {
		return
	}
	if into := r.Header.Get("Sec-Fetch-Dest"); into != "" && into != "iframe" {
		frame.SeeOther(w, path(b, ""))
		return
	}
	contact := r.URL.Query().Get("contact")
	if contact != "" && !core.IsID(contact) {
		h.NoSuchPage(w, r, v)
		return
	}
	found, err := h.preview(r, v, b.ID, contact)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if found.Sample == nil {
		h.NoSuchPage(w, r, v)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", previewPolicy)
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(found.Sample.HTML)) // an error means that the client has disconnected
}

// allowFrames extends the content security policy of a page: it may show pages of this host
// in frames. A link in a preview then leads to no other host.
func allowFrames(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Security-Policy", header.Get("Content-Security-Policy")+"; frame-src 'self'")
}
