package broadcasts

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// showPreview writes the HTML of the message to the contact in the query parameter contact,
// or to a member of the audience. A browser that opens the address outside of a frame is
// redirected to the page of the broadcast, so that no link leads to a stranger's page under
// the address of the dashboard.
func (h *Room) showPreview(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.read(w, r, v)
	if !ok {
		return
	}
	if !frame.IsForFrame(r) {
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
	frame.WriteMail(w, found.Sample.HTML)
}
