package imports

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contactfile"
	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// maxSelects is the maximum number of options on the page. Above it, a column has a text
// field with suggestions.
const maxSelects = 10_000

// columnsPage is the data of the page that assigns the columns of a file.
type columnsPage struct {
	Form       frame.Form
	File       string
	Columns    []columnRow
	Targets    []target // all targets, for text fields
	Many       bool     // whether columns have text fields
	Ignored    int
	ClearEmpty bool
	Rebind     bool
	Lists      []frame.Option // the lists that the contacts can join
	Discard    frame.Form
}

// columnRow is the data of one column. Field is the name of its form field.
type columnRow struct {
	Field, Header, Chosen string
	Samples               []string
	Options               []frame.Option
}

// target is something that a column may set, with the name that the page shows.
type target struct{ Value, Name string }

// fieldWords are the texts for the fields of a contact.
var fieldWords = map[string]string{
	"email": "Address", "external_id": "External id", "unsubscribe_all": "Global opt-out (true or false)", "lists": "Lists (keys, separated by |)",
}

// readUpload reads the upload that the path names. If it returns false, it has written an
// error.
func (h *Imports) readUpload(w http.ResponseWriter, r *http.Request, v people.Visitor) (contactupload.Upload, bool) {
	up, err := h.Uploads.Upload(r.Context(), v.Org.ID, r.PathValue("id"))
	if err == nil && up.Status == contactupload.Receiving {
		err = core.NotFound("upload")
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return up, false
	}
	return up, true
}

// showColumns shows the form that assigns the columns of a file.
func (h *Imports) showColumns(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	up, ok := h.readUpload(w, r, v)
	if !ok {
		return
	}
	if !up.HasFile(h.Clock()) || up.Status == contactupload.Checking || up.Status == contactupload.Importing || up.Import.Rows > 0 {
		frame.SeeOther(w, pathOf(up))
		return
	}
	h.columnsForm(w, r, v, up, "", http.StatusOK)
}

// columnsForm writes the form that assigns the columns, with the settings of the upload.
func (h *Imports) columnsForm(w http.ResponseWriter, r *http.Request, v people.Visitor, up contactupload.Upload, problem string, status int) {
	targets, err := h.targets(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := columnsPage{
		Form: frame.FormTo(v, pathOf(up)+"/columns"), Discard: frame.FormTo(v, pathOf(up)+"/discard"), File: frame.PlainName(up.FileName), Targets: targets,
		Many: len(targets)*len(up.Sample.Header) > maxSelects, ClearEmpty: up.Settings.ClearEmpty, Rebind: up.Settings.Rebind,
	}
	lists, _ := h.lists(r, v) // a file can be imported without a list
	for _, l := range lists {
		data.Lists = append(data.Lists, frame.Option{Value: l.ID, Name: frame.PlainName(l.Name)})
	}
	data.Lists = frame.ChooseOption(data.Lists, up.Settings.List)
	for i, header := range up.Sample.Header {
		row := columnRow{Field: "column." + strconv.Itoa(i), Header: core.Quotable(header, 100)}
		if i < len(up.Settings.Targets) {
			row.Chosen = up.Settings.Targets[i]
		}
		if row.Chosen == "" {
			data.Ignored++
		}
		for _, cells := range up.Sample.Rows {
			if i < len(cells) && cells[i] != "" {
				row.Samples = append(row.Samples, core.Quotable(cells[i], 60))
			}
		}
		if !data.Many {
			row.Options = optionsOf(targets, row.Chosen)
		}
		data.Columns = append(data.Columns, row)
	}
	head := frame.Head{Title: "Assign columns", Lead: "Decide what each column of the file sets. Then all rows are checked; nothing changes yet."}
	h.Show(w, r, v, status, frame.Screen{Page: "columns", Title: "Assign columns", Head: head, Problem: problem, Data: data})
}

// targets returns everything that a column may set: fields, attributes and topics.
func (h *Imports) targets(ctx context.Context, orgID string) ([]target, error) {
	var all []target
	for _, field := range contactfile.Fields() {
		all = append(all, target{field, fieldWords[field]})
	}
	attributes, err := h.Uploads.AttributeNames(ctx, orgID)
	if err != nil {
		return nil, err
	}
	for _, name := range attributes {
		all = append(all, target{contactfile.AttributeTarget(name), "Attribute " + frame.PlainName(name)})
	}
	topics, err := h.Topics.Topics(ctx, orgID)
	if err != nil {
		return nil, err
	}
	for _, topic := range topics {
		all = append(all, target{contactfile.TopicTarget(topic.Name), "Topic " + frame.PlainName(topic.DisplayName) + " (OPT_IN or OPT_OUT)"})
	}
	return all, nil
}

// list has members of a list in the result of lists_list.
type list struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// lists returns all lists, the newest first. It returns none for a visitor who may not see
// lists.
func (h *Imports) lists(r *http.Request, v people.Visitor) ([]list, error) {
	if !v.Member.Has(members.MayViewLists) {
		return nil, nil
	}
	return frame.ReadAll[list](h.Frame, r, v, "lists_list")
}

// optionsOf returns the options of a select field for these targets.
func optionsOf(targets []target, chosen string) []frame.Option {
	options := make([]frame.Option, 0, len(targets)+1)
	for _, t := range targets {
		options = append(options, frame.Option{Value: t.Value, Name: t.Name})
	}
	return frame.ChooseOption(options, chosen)
}

// check stores the assignment and starts the check of all rows.
func (h *Imports) check(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	up, ok := h.readUpload(w, r, v)
	if !ok {
		return
	}
	up.Settings.Targets = make([]string, len(up.Sample.Header))
	for i := range up.Settings.Targets {
		up.Settings.Targets[i] = r.PostForm.Get("column." + strconv.Itoa(i))
	}
	up.Settings.ClearEmpty, up.Settings.Rebind = r.PostForm.Has("clear_empty"), r.PostForm.Has("rebind")
	up.Settings.List, up.Settings.ListName = r.PostForm.Get("list"), ""
	if up.Settings.List != "" {
		lists, err := h.lists(r, v)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		at := slices.IndexFunc(lists, func(l list) bool { return l.ID == up.Settings.List })
		if at < 0 {
			h.columnsForm(w, r, v, up, "The chosen list does not exist, or you may not see it.", http.StatusUnprocessableEntity)
			return
		}
		up.Settings.ListName = lists[at].Name
	}
	err := h.TransactorWith(v, members.MayManageContacts).InTx(r.Context(), func(ctx context.Context) error {
		return h.Uploads.StartCheck(ctx, v.Org.ID, up.ID, up.Settings)
	})
	if err == nil {
		frame.SeeOther(w, pathOf(up))
		return
	}
	if e := core.AsError(err); e.Code == core.CodeValidationFailed {
		h.columnsForm(w, r, v, up, e.Message, e.HTTPStatus())
		return
	}
	h.Fail(w, r, v, err)
}
