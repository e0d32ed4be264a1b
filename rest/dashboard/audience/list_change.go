package audience

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// listForm is the data of the form that creates or changes a list. Key is shown for a new
// list only, because the key of a list never changes.
type listForm struct {
	Form                   frame.Form
	Once                   string // "" in the form that changes a list
	New                    bool
	Name, Key, Description string
	Back                   string
}

// showNewList shows the form that creates a list.
func (h listHandlers) showNewList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if why := readOnly(v, "", ""); why != "" {
		h.Refuse(w, r, v, http.StatusConflict, "Lists are read-only here", why)
		return
	}
	h.newListForm(w, r, v, listForm{Once: core.NewID()}, "", http.StatusOK)
}

// newListForm writes the form that creates a list.
func (h listHandlers) newListForm(w http.ResponseWriter, r *http.Request, v people.Visitor, f listForm, problem string, status int) {
	f.Form, f.New, f.Back = frame.FormTo(v, newListPath), true, ListsPath
	head := frame.Head{Title: "Create list"}
	h.Show(w, r, v, status, frame.Screen{Page: "list_form", Title: "Create list", Head: head, Problem: problem, Data: f})
}

// createList creates a list and redirects to its page.
func (h listHandlers) createList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	typed := typedList(r)
	typed.Once = once
	arguments := map[string]string{fieldName: typed.Name}
	if typed.Key != "" {
		arguments[fieldKey] = typed.Key
	}
	if typed.Description != "" {
		arguments[fieldDescription] = typed.Description
	}
	var made list
	_, err := h.Do(r, v, frame.OperationCall{Operation: "lists_create", Arguments: arguments, Once: once}, &made)
	if err == nil {
		frame.RedirectWithNotice(w, made.Path(), "created")
		return
	}
	if problem, status := labels.Correctable(err); problem != "" {
		h.newListForm(w, r, v, typed, problem, status)
		return
	}
	h.Fail(w, r, v, err)
}

// typedList returns the values of a sent form.
func typedList(r *http.Request) listForm {
	return listForm{Name: r.PostForm.Get(fieldName), Key: r.PostForm.Get(fieldKey), Description: r.PostForm.Get(fieldDescription)}
}

// showEditList shows the form that changes the name and the description of a list.
func (h listHandlers) showEditList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if l, ok := h.changeableList(w, r, v); ok {
		h.editListForm(w, r, v, l, listForm{Name: l.Name, Description: l.Description}, "", http.StatusOK)
	}
}

// changeableList reads the list that the path names. If it returns false, it has written an
// error: the list does not exist, or a repository owns it.
func (h listHandlers) changeableList(w http.ResponseWriter, r *http.Request, v people.Visitor) (list, bool) {
	l, ok := h.readList(w, r, v)
	if !ok {
		return list{}, false
	}
	if why := readOnly(v, l.Origin, l.SourcePath); why != "" {
		h.Refuse(w, r, v, http.StatusConflict, "This list is read-only here", why)
		return list{}, false
	}
	return l, true
}

// editListForm writes the form that changes a list.
func (h listHandlers) editListForm(w http.ResponseWriter, r *http.Request, v people.Visitor, l list, f listForm, problem string, status int) {
	f.Form, f.Key, f.Back = frame.FormTo(v, l.Path()+"/edit"), l.Key, l.Path()
	name := frame.PlainName(l.Name)
	head := frame.Head{Title: "Edit list", Parents: []frame.Link{{Path: l.Path(), Name: name}}}
	h.Show(w, r, v, status, frame.Screen{Page: "list_form", Title: "Edit " + name, Head: head, Problem: problem, Data: f})
}

// editList changes the name and the description of a list and redirects to its page.
func (h listHandlers) editList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	l, ok := h.changeableList(w, r, v)
	if !ok {
		return
	}
	typed := typedList(r)
	arguments := map[string]string{"id": l.ID, fieldName: typed.Name, fieldDescription: typed.Description}
	_, err := h.Do(r, v, frame.OperationCall{Operation: "lists_update", Arguments: arguments}, nil)
	if err == nil {
		frame.RedirectWithNotice(w, l.Path(), "saved")
		return
	}
	if problem, status := labels.Correctable(err); problem != "" {
		h.editListForm(w, r, v, l, typed, problem, status)
		return
	}
	h.Fail(w, r, v, err)
}

// deletion is the data of a page that asks before a list or a topic is deleted.
type deletion struct {
	Form    frame.Form
	Name    string
	Members string
	Back    string
	affected
}

// showDeleteList shows what the deletion of a list does, with the form that deletes it.
func (h listHandlers) showDeleteList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	l, ok := h.changeableList(w, r, v)
	if !ok {
		return
	}
	hit, err := h.affectedBy(r, v, segments.Redefinition{GoneLists: []string{l.ID}})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	name := frame.PlainName(l.Name)
	head := frame.Head{Title: "Delete list?", Parents: []frame.Link{{Path: l.Path(), Name: name}}}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "list_delete", Title: "Delete " + name + "?", Head: head, Data: deletion{
		Form: frame.FormTo(v, l.Path()+"/delete"), Name: name, Members: frame.Quantity(l.MemberCount, "member", "members"), Back: l.Path(), affected: hit,
	}})
}

// deleteList deletes a list and redirects to the page with all lists.
func (h listHandlers) deleteList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "lists_delete", Arguments: map[string]string{"id": r.PathValue("id")}}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ListsPath, "deleted")
}
