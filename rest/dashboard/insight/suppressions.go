package insight

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// SuppressionsPath is the path of the page with the account's own suppression list.
const SuppressionsPath = frame.Path + "/suppressions"

// suppressed is an entry of the account's suppression list as the operation returns it.
type suppressed struct {
	Email        string `json:"email"`
	Reason       string `json:"reason"`
	SuppressedAt string `json:"suppressed_at"`
}

// suppressionRow is the data of an entry of the account's suppression list. Messages and
// Undeliverable are the pages with its messages and its entry on the list of undeliverable
// addresses. They are "" if the visitor may not open them.
type suppressionRow struct {
	Email, Reason           string
	At                      frame.When
	Messages, Undeliverable string
}

// suppressionsPage is the data of the page with the account's suppression list.
type suppressionsPage struct {
	All, Undeliverable string
	Email, Reason      string
	Reasons            []frame.Option
	Narrow             bool
	Rows               []suppressionRow
	Pager              frame.Pager
	Empty              frame.Empty
	// Unreadable says why the account's list cannot be read now, or "".
	Unreadable string
}

// suppressionReasons are the words for the reasons of entries.
var suppressionReasons = map[string]string{"bounce": "A message bounced", "complaint": "The recipient complained", "manual": "A person added it"}

// showSuppressions lists the addresses that the sending account itself refuses to mail. If
// the account does not answer, the page says so.
func (h suppressionHandlers) showSuppressions(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	q := r.URL.Query()
	data := suppressionsPage{All: SuppressionsPath, Email: q.Get("email"), Reason: q.Get("reason"), Reasons: frame.ChooseOption([]frame.Option{
		{Value: "bounce", Name: "Bounce"}, {Value: "complaint", Name: "Complaint"}, {Value: "manual", Name: "Added by a person"},
	}, q.Get("reason"))}
	data.Narrow = data.Email != "" || data.Reason != ""
	if h.MayOpen(v, UndeliverablePath) {
		data.Undeliverable = UndeliverablePath
	}
	screen := frame.Screen{Page: "suppressions", Title: "Suppressions", Head: frame.Head{Lead: "Addresses that the sending account itself refuses to mail."}}
	err := h.readSuppressions(r, v, &data)
	problem, status := frame.Labels{"email": "The address", "reason": "The reason"}.FilterProblem(err)
	if err != nil && problem == "" {
		if core.AsError(err).Code != core.CodeUpstreamUnavailable {
			h.Fail(w, r, v, err)
			return
		}
		data.Unreadable = frame.TextOf(err)
	}
	screen.Problem = problem
	screen.Data = data
	h.Show(w, r, v, status, screen)
}

// readSuppressions reads a page of the account's list with the filters in the address.
func (h suppressionHandlers) readSuppressions(r *http.Request, v people.Visitor, data *suppressionsPage) error {
	q := r.URL.Query()
	var page frame.List[suppressed]
	if err := h.Read(r, v, "suppressions_list", frame.SetArguments(map[string]any{
		"email": data.Email, "reason": data.Reason, "limit": frame.PageSize, "cursor": q.Get(frame.ParamCursor),
	}), &page); err != nil {
		return err
	}
	for _, s := range page.Data {
		data.Rows = append(data.Rows, h.suppressionRow(v, s))
	}
	data.Pager = frame.PagerOf(SuppressionsPath, q, len(page.Data), page.Next(), -1)
	data.Empty = frame.Empty{Text: "The account suppresses no address. It adds one when a message bounces permanently or a recipient complains."}
	if data.Narrow {
		data.Empty.Text = "No suppressed address matches these filters, so the account does not refuse mail to it."
	}
	return nil
}

// suppressionRow returns the data of an entry with the links that the visitor may follow.
func (h suppressionHandlers) suppressionRow(v people.Visitor, s suppressed) suppressionRow {
	row := suppressionRow{Email: frame.PlainName(s.Email), Reason: suppressionReasons[s.Reason], At: h.WhenText(s.SuppressedAt)}
	if path := frame.Path + "/messages"; v.Member.Has(members.MaySearchRecipients) && h.MayOpen(v, path) {
		row.Messages = frame.Address(path, frame.Parameters{"recipient": s.Email})
	}
	if h.MayOpen(v, UndeliverablePath) {
		row.Undeliverable = frame.Address(UndeliverablePath, frame.Parameters{"q": s.Email})
	}
	return row
}

// suppressionOf returns the address of the suppressions page that shows whether the account
// suppresses an address, "" if the visitor may not open it.
func (h undeliverableHandlers) suppressionOf(v people.Visitor, e suppression.Entry) string {
	if !h.MayOpen(v, SuppressionsPath) {
		return ""
	}
	return frame.Address(SuppressionsPath, frame.Parameters{"email": e.Email})
}
