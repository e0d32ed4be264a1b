package audience

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// list has the members of a list in REST that the pages show.
type list struct {
	ID, Key, Name, Description, Source, Origin, Status string
	MemberCount                                        int64     `json:"member_count"`
	SourcePath                                         string    `json:"source_path"`
	CreatedAt                                          time.Time `json:"created_at"`
	UpdatedAt                                          time.Time `json:"updated_at"`
}

// Path returns the path of the page of the list.
func (l list) Path() string { return ListsPath + "/" + l.ID }

// sourceWords are the texts for the place where a list was created.
var sourceWords = map[string]string{"api": "a program", "ui": "the dashboard", "import": "an import", "topic_export": "an export of a topic"}

// listPage is the data of the page of one list.
type listPage struct {
	List             list
	Source, Origin   string
	Created, Updated frame.When
	ReadOnly         string // why the definition cannot be changed here, "" if it can
	Count            string // the number of members
	Members          []memberRow
	Query            string
	Pager            frame.Pager
	Add              *frame.Form // nil if the visitor may not change contacts
	Typed            string
	Remove           frame.Form
}

// memberRow is the data of one member of a list. Path is "" if the visitor may not see
// contacts.
type memberRow struct {
	ID, Path, Email string
	Mailable        bool
	Added           frame.When
}

// readList reads the list that the path names. If it returns false, it has written an error.
func (h listHandlers) readList(w http.ResponseWriter, r *http.Request, v people.Visitor) (list, bool) {
	var l list
	if err := h.Read(r, v, "lists_get", map[string]any{"id": r.PathValue("id")}, &l); err != nil {
		h.Fail(w, r, v, err)
		return list{}, false
	}
	return l, true
}

// showList shows one list with its members.
func (h listHandlers) showList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if l, ok := h.readList(w, r, v); ok {
		h.showListWith(w, r, v, l, "", "", http.StatusOK)
	}
}

// showListWith shows one list. typed is the address in the form that adds a member, and
// problem the error of that form, "" for none.
func (h listHandlers) showListWith(w http.ResponseWriter, r *http.Request, v people.Visitor, l list, typed, problem string, status int) {
	data := listPage{
		List: l, Source: sourceWords[l.Source], Origin: originWords[l.Origin], Created: h.When(l.CreatedAt), Updated: h.When(l.UpdatedAt), Count: core.WithCommas(l.MemberCount),
		ReadOnly: readOnly(v, l.Origin, l.SourcePath), Typed: typed, Remove: frame.FormTo(v, l.Path()+"/members/remove"),
	}
	data.List.Name, data.List.Description = frame.PlainName(l.Name), frame.PlainName(l.Description)
	if v.Member.Has(members.MayManageContacts) {
		add := frame.FormTo(v, l.Path()+"/members/add")
		data.Add = &add
	}
	if err := h.readMembers(r, v, &data); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	head := frame.Head{Title: data.List.Name, Lead: data.List.Description}
	if v.Member.Has(members.MayManageLists) && data.ReadOnly == "" {
		head.Actions = []frame.Action{{Path: l.Path() + "/edit", Name: "Edit list"}, {Path: l.Path() + "/delete", Name: "Delete list", Danger: true}}
	}
	h.Show(w, r, v, status, frame.Screen{Page: "list", Title: data.List.Name, Head: head, Notice: listNotices.NoticeOf(r), Problem: problem, Data: data})
}

// readMembers reads the page of members that the query of the address selects.
func (h listHandlers) readMembers(r *http.Request, v people.Visitor, data *listPage) error {
	query := r.URL.Query()
	if r.Method != http.MethodGet {
		query = url.Values{} // a refused form
	}
	data.Query = query.Get("q")
	page, err := frame.ReadReport(h.Frame, r, v, func(ctx context.Context) (core.Page[lists.Member], error) {
		return h.Lists.SearchMembers(ctx, v.Org.ID, data.List.ID, data.Query, query.Get(frame.ParamCursor), frame.PageSize)
	})
	if err != nil {
		return err
	}
	for _, m := range page.Items {
		row := memberRow{ID: m.ContactID, Email: frame.PlainName(m.Email), Mailable: m.Mailable, Added: h.When(m.AddedAt)}
		if v.Member.Has(members.MayViewContacts) {
			row.Path = frame.Path + "/contacts/" + m.ContactID
		}
		data.Members = append(data.Members, row)
	}
	total := data.List.MemberCount
	if data.Query != "" {
		total = -1
	}
	data.Pager = frame.PagerOf(data.List.Path(), query, len(data.Members), page.Next, total)
	return nil
}
