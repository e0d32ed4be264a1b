package contacts

import (
	"context"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	audience "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// contactsPage is the data of the list of contacts.
type contactsPage struct {
	All     string
	Filters filters
	Rows    []contactRow
	Empty   frame.Empty
	Pager   frame.Pager
	Export  exportForm
}

// contactRow is the data of one contact in the list.
type contactRow struct {
	Path, Email, Name string
	Status            mark
	Topics            string
	Updated           frame.When
}

// mark is a short word with the class of its colour.
type mark struct{ Class, Word string }

// statusOf returns the mark of a contact's status.
func statusOf(c audience.Contact) mark {
	switch {
	case c.Status == audience.Archived:
		return mark{"ended", "archived"}
	case c.UnsubscribeAll:
		return mark{"ended", "opted out"}
	case !c.Mailable:
		return mark{"test", "no consent"}
	}
	return mark{"good", "mailable"}
}

// showContacts lists the contacts that match the filters in the query.
func (h listHandlers) showContacts(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	known := h.readFilters(r, v, query)
	search, err := known.searchOf(query)
	search.Limit, search.Cursor = frame.PageSize, query.Get(frame.ParamCursor)
	var found audience.Found
	if err == nil {
		found, err = frame.ReadReport(h.Frame, r, v, func(ctx context.Context) (audience.Found, error) {
			return h.Directory.Search(ctx, v.Org.ID, search)
		})
	}
	shown, status := frame.Screen{Page: "contacts", Title: "Contacts", Head: frame.Head{Title: "Contacts"}}, http.StatusOK
	if err != nil {
		e := core.AsError(err)
		if e.Code != core.CodeValidationFailed {
			h.Fail(w, r, v, err)
			return
		}
		shown.Problem, status = filterLabels.Problem(err), e.HTTPStatus()
		found.Total = -1
	} else if found.Total >= 0 {
		shown.Head.Count = core.WithCommas(found.Total)
	}
	data := contactsPage{All: Path, Export: exportFormOf(v, query), Filters: known.filtersOf(query), Pager: frame.PagerOf(Path, query, len(found.Items), found.Next, found.Total)}
	for _, c := range found.Items {
		data.Rows = append(data.Rows, h.rowOf(c, known))
	}
	if v.Member.Has(members.MayManageContacts) {
		shown.Head.Actions = []frame.Action{{Path: importPath, Name: "Import"}, {Path: NewPath, Name: "New contact", Primary: true}}
	}
	data.Empty = h.emptyOf(v, data.Filters)
	shown.Data = data
	h.Show(w, r, v, status, shown)
}

// rowOf returns the data of a contact in the list.
func (h listHandlers) rowOf(c audience.Contact, known choices) contactRow {
	return contactRow{
		Path: pathOf(c.ID), Email: frame.PlainName(c.Email), Name: frame.PlainName(c.Name()), Status: statusOf(c),
		Topics: known.subscriptions(c), Updated: h.When(c.UpdatedAt),
	}
}

// emptyOf returns what stands in place of a list without contacts.
func (h listHandlers) emptyOf(v people.Visitor, f filters) frame.Empty {
	switch {
	case f.Query != "" && f.State == "":
		asked := url.Values{"q": {f.Query}, "status": {string(audience.OnlyArchived)}}
		return frame.Empty{
			Text:   "No active contact matches. Archived contacts are searched separately.",
			Action: &frame.Action{Path: Path + "?" + asked.Encode(), Name: "Search archived contacts"},
		}
	case f.Narrow:
		return frame.Empty{Text: "No contact matches these filters.", Action: &frame.Action{Path: Path, Name: "Clear filters"}}
	}
	none := frame.Empty{
		Text:  "Contacts are the people to whom you may send mail.",
		Guide: h.Guide("/guides/contacts", "Read the guide about contacts"),
	}
	if v.Member.Has(members.MayManageContacts) {
		none.Action = &frame.Action{Path: importPath, Name: "Import contacts"}
	}
	return none
}
