package insight

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// UndeliverablePath is the path of the page that lists undeliverable addresses.
const UndeliverablePath = frame.Path + "/undeliverable"

// The paths of the page with the rules by which addresses count as undeliverable, and of
// its form.
const (
	rulesPath     = UndeliverablePath + "/rules"
	saveRulesPath = rulesPath + "/save"
)

// undeliverableNotices are the messages that the pages about undeliverable addresses show
// after a change. A key is the notice's name in the page's address.
var undeliverableNotices = frame.Notices{
	"excluded": "The address is excluded. Later events can list it again.",
	"rules":    "The rules are saved. They apply to new events at once, and to all addresses within minutes.",
}

// reasonWords are the texts for the reasons why an address is undeliverable.
var reasonWords = map[suppression.Reason]string{
	suppression.PermanentBounce:        "Permanent bounce",
	suppression.Complaint:              "Complaint",
	suppression.Rejected:               "Rejected",
	suppression.RepeatedTransient:      "Repeated transient bounces",
	suppression.Undetermined:           "Undetermined bounces",
	suppression.SoftBounceAccumulation: "Many soft bounces",
}

// addressRow is the data of an undeliverable address. The field Why has the reason for
// excluding the address from the list, as a person wrote it.
type addressRow struct {
	Path, Email, Reason string
	Excluded            bool
	Events              int
	First, Last         string
	ExcludedAt, Why     string
}

// newAddressRow returns the data of an entry of the undeliverable list for the pages.
func newAddressRow(e suppression.Entry) addressRow {
	row := addressRow{
		Path: UndeliverablePath + "/" + e.ID(), Email: frame.PlainName(e.Email), Reason: reasonWords[e.Reason], Events: e.EventCount,
		First: e.FirstSeenAt.Format(frame.DateLayout), Last: e.LastSeenAt.Format(frame.DateLayout),
	}
	if e.Status == suppression.Excluded {
		row.Excluded, row.ExcludedAt, row.Why = true, e.ExcludedAt.Format(frame.DateLayout), frame.PlainName(e.ExclusionReason)
	}
	return row
}

// undeliverableList is the data of the page that lists undeliverable addresses. Older is
// the address of the next page, or "".
type undeliverableList struct {
	All, Rules string
	// Suppressions is the page with the account's list, "" if the visitor may not open it.
	Suppressions string
	Query        string
	Statuses     []frame.Option
	Narrow       bool
	Rows         []addressRow
	Older        string
}

// showUndeliverable lists the addresses that match the filter in the query. It refuses an
// invalid filter or cursor.
func (h undeliverableHandlers) showUndeliverable(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data, err := h.readUndeliverable(r, v)
	problem, status := frame.Labels{"q": "The text"}.FilterProblem(err)
	switch {
	case err == nil:
		h.Show(w, r, v, http.StatusOK, frame.Screen{
			Page: "undeliverable", Title: "Undeliverable", Notice: undeliverableNotices.NoticeOf(r), Data: data,
			Head: frame.Head{Title: "Undeliverable addresses", Actions: []frame.Action{{Path: rulesPath, Name: "Open rules"}}},
		})
	case problem != "":
		h.Refuse(w, r, v, status, "This filter is not supported", problem)
	default:
		h.Fail(w, r, v, err)
	}
}

// readUndeliverable reads one page of undeliverable addresses. It fails with
// validation_failed for an invalid filter or cursor.
func (h undeliverableHandlers) readUndeliverable(r *http.Request, v people.Visitor) (undeliverableList, error) {
	query := r.URL.Query()
	part, status := query.Get("q"), suppression.Status(query.Get("status"))
	if status != suppression.Excluded && status != "" {
		status = suppression.Listed
	}
	asked := url.Values{"q": {part}, "status": {string(status)}}
	after, err := core.AfterCursor(asked.Encode(), query.Get("before"))
	if err != nil {
		return undeliverableList{}, err
	}
	var more bool
	entries, err := frame.ReadReport(h.Frame, r, v, func(ctx context.Context) ([]suppression.Entry, error) {
		found, further, err := h.Undeliverable.Search(ctx, v.Org.ID, suppression.EntryFilter{
			Part: part, Status: status, After: after, Limit: frame.PageSize,
		})
		more = further
		return found, err
	})
	if err != nil {
		return undeliverableList{}, err
	}
	data := undeliverableList{
		All: UndeliverablePath, Rules: rulesPath, Query: part, Narrow: part != "" || status != "",
		Statuses: []frame.Option{
			{Value: string(suppression.Listed), Name: "Listed", Chosen: status == suppression.Listed},
			{Value: string(suppression.Excluded), Name: "Excluded", Chosen: status == suppression.Excluded},
		},
	}
	if h.MayOpen(v, SuppressionsPath) {
		data.Suppressions = SuppressionsPath
	}
	for _, e := range entries {
		data.Rows = append(data.Rows, newAddressRow(e))
	}
	if more {
		asked.Set("before", cursorAt(asked.Encode(), entries[len(entries)-1]))
		data.Older = UndeliverablePath + "?" + asked.Encode()
	}
	return data, nil
}

// cursorAt returns the cursor of the page that begins after this entry, for the same
// filter.
func cursorAt(filter string, e suppression.Entry) string {
	return core.EncodeCursor(filter, fmt.Sprint(e.LastChangedAt.UnixMicro()), e.ID())
}

// addressPage is the data of the page of one undeliverable address.
type addressPage struct {
	All     string
	Address addressRow
	// Messages and Suppression are pages with records of the address, "" if the visitor may
	// not open them.
	Messages, Suppression string
	Exclude               *frame.Form // nil if the address is excluded already or the visitor may not exclude it
	Typed                 string
	Longest               int
}

// showUndeliverableAddress shows the page of one undeliverable address.
func (h undeliverableHandlers) showUndeliverableAddress(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.undeliverableAddress(w, r, v, "", nil)
}

// undeliverableAddress writes the page of one undeliverable address. If refused is not nil,
// the form shows the reason that was refused (typed) and the error.
func (h undeliverableHandlers) undeliverableAddress(w http.ResponseWriter, r *http.Request, v people.Visitor, typed string, refused *core.Error) {
	entry, err := h.Undeliverable.Entry(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := addressPage{All: UndeliverablePath, Address: newAddressRow(entry), Typed: typed, Longest: suppression.MaxExclusionReason}
	data.Suppression = h.suppressionOf(v, entry)
	if path := frame.Path + "/messages"; v.Member.Has(members.MaySearchRecipients) && h.MayOpen(v, path) {
		data.Messages = frame.Address(path, frame.Parameters{"recipient": entry.Email})
	}
	if entry.Status == suppression.Listed && v.Member.Has(members.MayManageUndeliverable) {
		exclude := frame.FormTo(v, data.Address.Path+"/exclude")
		data.Exclude = &exclude
	}
	shown, status := frame.Screen{Page: "undeliverable_address", Title: data.Address.Email, Notice: undeliverableNotices.NoticeOf(r), Data: data}, http.StatusOK
	if refused != nil {
		shown.Problem, status = refused.Message+" "+refused.NextStep(), refused.HTTPStatus()
	}
	h.Show(w, r, v, status, shown)
}

// excludeAddress takes an address off the undeliverable list, with the visitor's reason,
// and redirects to the address's page.
func (h undeliverableHandlers) excludeAddress(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id, reason := r.PathValue("id"), r.PostForm.Get("reason")
	err := h.TransactorWith(v, members.MayManageUndeliverable).InTx(r.Context(), func(ctx context.Context) error {
		entry, err := h.Undeliverable.Exclude(ctx, v.Org.ID, id, reason)
		if err != nil {
			return err
		}
		return h.Record(ctx, v, "undeliverable.excluded", entry.ID(), map[string]any{"status": change{string(suppression.Listed), string(suppression.Excluded)}})
	})
	e := core.AsError(err)
	switch {
	case err == nil:
		frame.RedirectWithNotice(w, UndeliverablePath+"/"+id, "excluded")
	case e.Code == core.CodeValidationFailed:
		h.undeliverableAddress(w, r, v, frame.PlainName(reason), e)
	default:
		h.Fail(w, r, v, err)
	}
}

// change is the old and the new value in the detail of an audit event: the status of an
// address, the name of a set of rules (the profile), or one rule.
type change struct {
	Before string `json:"before"`
	After  string `json:"after"`
}
