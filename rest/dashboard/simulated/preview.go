package simulated

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// previewPolicy is the content security policy of the HTML of a mail. Other people wrote
// it, so it gets an origin of its own. It runs no script, sends no form, and loads nothing
// over the network. Only the dashboard may show it in a frame.
const previewPolicy = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// showHTML writes the HTML of a mail for the frame on its page. A browser that opens the
// address outside of a frame is redirected to that page, so that no link leads to another
// person's page under the address of the dashboard.
func (s *Simulated) showHTML(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	if into := r.Header.Get("Sec-Fetch-Dest"); into != "" && into != "iframe" {
		frame.SeeOther(w, MailPath(id))
		return
	}
	m, err := s.Account.Mail(r.Context(), v.Org.ID, id)
	if err != nil {
		s.failMail(w, r, v, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", previewPolicy)
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(m.HTML)) // an error means that the client has disconnected
}

// allowPreview extends the content security policy of a page: it may show pages of this
// host in frames. A link in a preview then leads to no other host.
func allowPreview(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Security-Policy", header.Get("Content-Security-Policy")+"; frame-src 'self'")
}
