package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/suppression"
)

const (
	undeliverablePath = Path + "/undeliverable"
	rulesPath         = undeliverablePath + "/rules"
	saveRulesPath     = rulesPath + "/save"
	undeliverablePage = 50
)

func (d *Dashboard) undeliverablePages() []route {
	view := access.MayViewUndeliverable
	return []route{
		{path: "/undeliverable", needs: view, get: d.showUndeliverable},
		{path: "/undeliverable/rules", needs: view, get: d.showRules},
		{path: "/undeliverable/rules/save", needs: access.MayConfigureUndelivered, post: d.saveRules},
		{path: "/undeliverable/{id}", needs: view, get: d.showUndeliverableAddress},
		{path: "/undeliverable/{id}/exclude", needs: access.MayManageUndeliverable, post: d.excludeAddress},
	}
}

var undeliverableNotices = notices{
	"excluded": "The address is excluded. It is listed again if later events qualify by themselves.",
	"rules":    "The rules are saved. New events count by them at once; all addresses are judged anew within minutes.",
}

// reasonWords are the reasons as people read them.
var reasonWords = map[suppression.Reason]string{
	suppression.PermanentBounce:        "Permanent bounce",
	suppression.Complaint:              "Complaint",
	suppression.Rejected:               "Rejected",
	suppression.RepeatedTransient:      "Repeated transient bounces",
	suppression.Undetermined:           "Undetermined bounces",
	suppression.SoftBounceAccumulation: "Many soft bounces",
}

// addressRow is an undeliverable address as the pages show it.
type addressRow struct {
	Path, Email, Reason string
	Excluded            bool
	Events              int
	First, Last         string
	ExcludedAt, Why     string
}

func newAddressRow(e suppression.Entry) addressRow {
	row := addressRow{
		Path: undeliverablePath + "/" + e.ID(), Email: plainName(e.Email), Reason: reasonWords[e.Reason], Events: e.EventCount,
		First: e.FirstSeenAt.Format(dateLayout), Last: e.LastSeenAt.Format(dateLayout),
	}
	if e.Status == suppression.Excluded {
		row.Excluded, row.ExcludedAt, row.Why = true, e.ExcludedAt.Format(dateLayout), plainName(e.ExclusionReason)
	}
	return row
}

// undeliverableList is what the page of all addresses shows.
type undeliverableList struct {
	All, Rules string
	Query      string
	Statuses   []option
	Narrow     bool
	Rows       []addressRow
	Older      string
}

func (d *Dashboard) showUndeliverable(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	data, err := d.readUndeliverable(r, v)
	e := core.AsError(err)
	switch {
	case err == nil:
		d.show(w, r, v, http.StatusOK, screen{page: "undeliverable", title: "Undeliverable", notice: undeliverableNotices.of(r), data: data})
	case e.Code == core.CodeValidationFailed:
		d.refuse(w, r, v, e.HTTPStatus(), "The list cannot be asked that", e.Message+" "+e.NextStep())
	default:
		d.fail(w, r, v, err)
	}
}

func (d *Dashboard) readUndeliverable(r *http.Request, v access.Visitor) (undeliverableList, error) {
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
	var entries []suppression.Entry
	var more bool
	err = d.Expensive(r.Context(), v.Org.ID, func(ctx context.Context) error {
		var err error
		entries, more, err = d.Suppression.Search(ctx, v.Org.ID, suppression.EntryFilter{
			Part: part, Status: status, After: after, Limit: undeliverablePage,
		})
		return err
	})
	if err != nil {
		return undeliverableList{}, err
	}
	data := undeliverableList{
		All: undeliverablePath, Rules: rulesPath, Query: part, Narrow: part != "" || status != "",
		Statuses: []option{
			{Value: string(suppression.Listed), Name: "Listed", Chosen: status == suppression.Listed},
			{Value: string(suppression.Excluded), Name: "Excluded", Chosen: status == suppression.Excluded},
		},
	}
	for _, e := range entries {
		data.Rows = append(data.Rows, newAddressRow(e))
	}
	if more {
		asked.Set("before", cursorAt(asked.Encode(), entries[len(entries)-1]))
		data.Older = undeliverablePath + "?" + asked.Encode()
	}
	return data, nil
}

// cursorAt is the place behind an entry.
func cursorAt(filter string, e suppression.Entry) string {
	return core.EncodeCursor(filter, fmt.Sprint(e.LastChangedAt.UnixMicro()), e.ID())
}

// addressPage is what the page of one address shows.
type addressPage struct {
	All     string
	Address addressRow
	Exclude *form // nil when there is nothing to exclude, or it is not the visitor's to
	Typed   string
	Longest int
}

func (d *Dashboard) showUndeliverableAddress(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.undeliverableAddress(w, r, v, "", nil)
}

// undeliverableAddress shows the page again with a reason that was refused, when
// refused is not nil.
func (d *Dashboard) undeliverableAddress(w http.ResponseWriter, r *http.Request, v access.Visitor, typed string, refused *core.Error) {
	entry, err := d.Suppression.Entry(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	data := addressPage{All: undeliverablePath, Address: newAddressRow(entry), Typed: typed, Longest: suppression.MaxExclusionReason}
	if entry.Status == suppression.Listed && v.Member.Has(access.MayManageUndeliverable) {
		exclude := formTo(v, data.Address.Path+"/exclude")
		data.Exclude = &exclude
	}
	shown, status := screen{page: "undeliverable_address", title: data.Address.Email, notice: undeliverableNotices.of(r), data: data}, http.StatusOK
	if refused != nil {
		shown.problem, status = refused.Message+" "+refused.NextStep(), refused.HTTPStatus()
	}
	d.show(w, r, v, status, shown)
}

func (d *Dashboard) excludeAddress(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	id, reason := r.PathValue("id"), r.PostForm.Get("reason")
	err := d.permitted(v, access.MayManageUndeliverable).InTx(r.Context(), func(ctx context.Context) error {
		entry, err := d.Suppression.Exclude(ctx, v.Org.ID, id, reason)
		if err != nil {
			return err
		}
		return d.record(ctx, v, "undeliverable.excluded", entry.ID(), map[string]any{"status": change{string(suppression.Listed), string(suppression.Excluded)}})
	})
	e := core.AsError(err)
	switch {
	case err == nil:
		noticed(w, undeliverablePath+"/"+id, "excluded")
	case e.Code == core.CodeValidationFailed:
		d.undeliverableAddress(w, r, v, plainName(reason), e)
	default:
		d.fail(w, r, v, err)
	}
}

// change is one thing that changed, in the detail of an audit line.
type change struct {
	Before string `json:"before"`
	After  string `json:"after"`
}
