package simulated

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// showHTML writes the HTML of a mail for the frame on its page. A browser that opens the
// address outside of a frame is redirected to that page, so that no link leads to another
// person's page under the address of the dashboard.
func (s *Simulated) showHTML(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	if !frame.IsForFrame(r) {
		frame.SeeOther(w, MailPath(id))
		return
	}
	m, err := s.Account.Mail(r.Context(), v.Org.ID, id)
	if err != nil {
		s.failMail(w, r, v, err)
		return
	}
	frame.WriteMail(w, m.HTML)
}
