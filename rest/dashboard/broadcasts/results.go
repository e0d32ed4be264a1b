package broadcasts

import (
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// results is a page of the outcomes of recipients.
type results struct {
	All, Query string
	Kinds      []frame.Option
	Narrow     bool
	Rows       []resultRow
	Pager      frame.Pager
	Empty      frame.Empty
}

// resultRow is the outcome of one recipient.
type resultRow struct {
	Contact named
	Result  state
	Why     string
	At      frame.When
	Message string // the path of the page of the message, "" for none
}

// resultStates are the outcomes in words.
var resultStates = map[handover.State]state{
	handover.Sent: {"Sent", "good"}, handover.Failed: {"Failed", "ended"}, handover.Filtered: {"Filtered", "test"},
}

// resultsOf reads a page of results, as the page's address selects them.
func (h *Room) resultsOf(r *http.Request, v people.Visitor, b broadcasts.Broadcast) (results, error) {
	query := r.URL.Query()
	data := results{All: path(b, ""), Query: queryOf(query.Get("q"))}
	asked := handover.State(query.Get("result"))
	if !slices.Contains([]handover.State{handover.Sent, handover.Failed, handover.Filtered}, asked) {
		asked = ""
	}
	data.Narrow = data.Query != "" || asked != ""
	for _, s := range []handover.State{handover.Sent, handover.Failed, handover.Filtered} {
		data.Kinds = append(data.Kinds, frame.Option{Value: string(s), Name: resultStates[s].Name, Chosen: s == asked})
	}
	page, err := h.Broadcasts.Results(r.Context(), v.Org.ID, broadcasts.ListResultsIn{
		ID: b.ID, Result: asked, Limit: frame.PageSize, Cursor: query.Get(frame.ParamCursor),
	}, data.Query)
	if err != nil {
		return data, err
	}
	for _, one := range page.Items {
		data.Rows = append(data.Rows, h.resultRowOf(v, one))
	}
	query.Del("done")
	data.Pager = frame.PagerOf(data.All, query, len(data.Rows), page.Next, totalOf(b, asked, data.Query))
	switch {
	case data.Narrow:
		data.Empty = frame.Empty{Text: "No recipient matches these filters."}
	case b.State.IsOver() && b.Sent+b.Failed+b.Filtered > 0:
		data.Empty = frame.Empty{Text: "The list of recipients is older than your organization keeps such lists, and was deleted. The numbers stay."}
	default:
		data.Empty = frame.Empty{Text: "No recipient has an outcome yet."}
	}
	return data, nil
}

// totalOf returns the number of results that a filter selects, -1 if it is not known.
func totalOf(b broadcasts.Broadcast, asked handover.State, query string) int64 {
	if query != "" || !b.State.IsOver() {
		return -1
	}
	return map[handover.State]int64{
		"": int64(b.Sent + b.Failed + b.Filtered), handover.Sent: int64(b.Sent), handover.Failed: int64(b.Failed), handover.Filtered: int64(b.Filtered),
	}[asked]
}

// resultRowOf returns the row of a result.
func (h *Room) resultRowOf(v people.Visitor, one broadcasts.Result) resultRow {
	row := resultRow{
		Contact: h.link(v, contactsPath, one.ContactID, one.Email), Result: resultStates[one.Result], At: h.When(one.OccurredAt), Why: whyOf(one),
	}
	if one.MessageID != "" {
		row.Message = h.link(v, messagesPath, one.MessageID, "").Path
	}
	return row
}

// whyOf says why a recipient got no message, "" for one who did.
func whyOf(one broadcasts.Result) string {
	switch {
	case one.FilterTier == handover.ByAccount:
		return "suppressed, or opted out of all mail"
	case one.FilterTier == handover.ByTopic:
		return "opted out of the topic"
	case one.FailureReason == handover.OutcomeUnknown:
		return "the account did not answer, so the message may have been sent"
	}
	return core.OnlyVisible(one.FailureReason)
}
