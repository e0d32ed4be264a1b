package approvals

import (
	"html"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// showMail writes the mail of a send that waits, rendered for a member of its audience. A
// browser that opens the address outside of a frame is redirected to the page of the
// approval, so that no link leads to a stranger's page under the address of the dashboard.
func (h approvalHandlers) showMail(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	if !frame.IsForFrame(r) {
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
	frame.WriteMail(w, body)
}
