package audience

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// ListsPath is the path of the page with all lists. Pages of single lists are below it.
const ListsPath = frame.Path + "/lists"

// newListPath is the path of the form for a new list.
const newListPath = ListsPath + "/new"

// listNotices are the messages that the pages of lists show after a change.
var listNotices = frame.Notices{
	"created": "The list was created. It has no members yet.",
	"saved":   "The list was changed.",
	"deleted": "The list was deleted.",
	"added":   "The contact is on the list.",
	"new":     "The address was new. A contact was created for it and is on the list.",
	"removed": "The contact was removed from the list.",
}

// listsPage is the data of the page with all lists.
type listsPage struct {
	Path, Query string
	Rows        []listRow
	Pager       frame.Pager
	Empty       frame.Empty
}

// listRow is the data of one list.
type listRow struct {
	Path, Name, Key, Description string
	Members                      string
	Origin                       string
	Git                          bool
	Updated                      frame.When
}

// newListRow returns the data to show a list.
func (h listHandlers) newListRow(l lists.List) listRow {
	return listRow{
		Path: ListsPath + "/" + l.ID, Name: frame.PlainName(l.Name), Key: l.Key, Description: frame.PlainName(l.Description),
		Members: core.WithCommas(l.MemberCount), Origin: originWords[string(l.Origin)], Git: l.Origin == core.GitOrigin,
		Updated: h.When(l.UpdatedAt),
	}
}

// showLists shows the lists of the organization, filtered by name or key.
func (h listHandlers) showLists(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	data := listsPage{Path: ListsPath, Query: query.Get("q")}
	page, err := frame.ReadReport(h.Frame, r, v, func(ctx context.Context) (core.Page[lists.List], error) {
		return h.Lists.Search(ctx, v.Org.ID, data.Query, query.Get(frame.ParamCursor), frame.PageSize)
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	for _, l := range page.Items {
		data.Rows = append(data.Rows, h.newListRow(l))
	}
	data.Pager = frame.PagerOf(ListsPath, query, len(data.Rows), page.Next, int64(page.Total))
	blocked := readOnly(v, "", "")
	head := frame.Head{Title: "Lists", Count: core.WithCommas(page.Total), Lead: "Contacts join a list when a person, an import or a program adds them."}
	data.Empty = frame.Empty{Text: "A list groups contacts, for example the readers of a newsletter."}
	if v.Member.Has(members.MayManageLists) && blocked == "" {
		create := frame.Action{Path: newListPath, Name: "Create list", Primary: true}
		head.Actions, data.Empty.Action = []frame.Action{create}, &create
	}
	if blocked != "" {
		head.Lead += " " + blocked
	}
	if data.Query != "" {
		data.Empty = frame.Empty{Text: "No list has this text in its name or key.", Action: &frame.Action{Path: ListsPath, Name: "Show all lists"}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "lists", Title: "Lists", Head: head, Notice: listNotices.NoticeOf(r), Data: data})
}
