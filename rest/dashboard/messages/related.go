package messages

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// fillRelated adds the latest other messages to the same recipient. Without the permission
// to search recipients the page says so instead. If they cannot be read, the rest of the
// page is still shown.
func (m *Messages) fillRelated(r *http.Request, v people.Visitor, message record, page *messagePage) {
	if page.Masked || message.To == "" {
		return
	}
	var found frame.List[record]
	err := m.Read(r, v, "recipients_messages", map[string]any{"email": message.To, "limit": shownRelated + 1}, &found)
	if err != nil {
		page.RelatedProblem = core.AsError(err).Message
		return
	}
	var others []record
	for _, other := range found.Data {
		if other.ID != message.ID && len(others) < shownRelated {
			others = append(others, other)
		}
	}
	page.Related = m.rowsOf(others)
	page.AllRelated = frame.Address(Path, filter{Recipient: message.To}.parameters())
}
