package tags

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// tagRow is the data of one tag in the list. Edit and Delete are "" if the visitor may not
// change tags.
type tagRow struct {
	Name, Color string
	// Templates and Broadcasts are the numbers of uses. TemplateList and BroadcastList are the
	// lists of what has the tag; BroadcastList is "" if the visitor may not see broadcasts.
	Templates, Broadcasts       string
	TemplateList, BroadcastList string
	Created                     frame.When
	Edit, Delete                string
}

// listPage is the data of the list of tags.
type listPage struct {
	Rows    []tagRow
	Empty   frame.Empty
	MayEdit bool
}

// showTags lists all tags by name.
func (h *Room) showTags(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	all, err := h.Tags.All(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{MayEdit: MayEdit(v), Empty: frame.Empty{Text: "There are no tags. Tags group templates and broadcasts, so that lists can be filtered by them."}}
	for _, t := range all {
		data.Rows = append(data.Rows, h.rowOf(v, t, data.MayEdit))
	}
	head := frame.Head{Title: "Tags", Count: core.WithCommas(len(all)), Lead: "Tags group templates and broadcasts. Lists and the API can be filtered by them."}
	if data.MayEdit {
		create := frame.Action{Path: newPath, Name: "Create tag", Primary: true}
		head.Actions = []frame.Action{create}
		if len(all) == 0 {
			head.Actions, data.Empty.Action = nil, &create
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "tags", Title: "Tags", Head: head, Notice: notices.NoticeOf(r), Data: data})
}

func (h *Room) rowOf(v people.Visitor, t tags.Tag, mayEdit bool) tagRow {
	row := tagRow{
		Name: frame.PlainName(t.Name), Color: t.Color, Templates: core.WithCommas(t.TemplateCount), Broadcasts: core.WithCommas(t.BroadcastCount),
		TemplateList: frame.Address(templatesPath, frame.Parameters{"tag": t.Name}), Created: h.When(t.CreatedAt),
	}
	if h.MayOpen(v, broadcastsPath) {
		row.BroadcastList = frame.Address(broadcastsPath, frame.Parameters{"tag": t.Name})
	}
	if mayEdit {
		row.Edit, row.Delete = pathOf(t.ID)+"/edit", pathOf(t.ID)+"/delete"
	}
	return row
}

// pathOf returns the path below which the forms of a tag are.
func pathOf(id string) string { return Path + "/" + url.PathEscape(id) }
