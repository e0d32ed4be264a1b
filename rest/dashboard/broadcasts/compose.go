package broadcasts

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The form field that says which button was pressed, and its values for the buttons that
// save nothing.
const (
	fieldDo = "do"
	doFind  = "find"
	doCount = "count"
)

// labels are the names of the form's fields in refusals.
var labels = frame.Labels{
	"name": "The name", "template_id": "The template", "template_version": "The version", "template_data": "The text of the variables", "html": "The HTML",
	"text": "The plain text", "audience_id": "The audience", "topic_id": "The topic", "subject": "The subject", "preview_text": "The preview text",
	"from_identity": "The sender", "rate_per_minute": "The rate", "scheduled_at": "The time", "percent": "The percentage", "recipients": "The addresses",
}

// composePage is the data of the form that writes a broadcast.
type composePage struct {
	Form     frame.Form
	Once     string
	Revision int // of the broadcast that is edited, 0 for a new one
	Fields   fields
	Faults   faults
	Choices  choices
	Reach    reach
	Back     string
	// Part says which part of the audience gets the broadcast, "" for all.
	Part string
}

// showNew shows the empty form. The query parameters template, list and segment choose
// these.
func (h composePages) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	query := r.URL.Query()
	f := fields{Content: fromTemplate, Template: query.Get("template")}
	for _, kind := range []broadcasts.AudienceKind{broadcasts.List, broadcasts.Segment} {
		if id := query.Get(string(kind)); id != "" {
			f.Audience = string(kind) + ":" + id
		}
	}
	h.compose(w, r, v, composePage{Fields: f}, nil, nil)
}

// showEdit shows the form with a broadcast.
func (h composePages) showEdit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.editable(w, r, v)
	if !ok {
		return
	}
	f, err := storedFields(b)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.compose(w, r, v, composePage{Fields: f, Revision: b.Revision}, &b, nil)
}

// read returns the broadcast that the request names. If it returns false, it has written an
// answer.
func (h *Room) read(w http.ResponseWriter, r *http.Request, v people.Visitor) (broadcasts.Broadcast, bool) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return broadcasts.Broadcast{}, false
	}
	b, err := h.Store.Broadcast(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return b, false
	}
	return b, true
}

// editable returns the broadcast that the request names, if it can be edited. If it returns
// false, it has written an answer.
func (h composePages) editable(w http.ResponseWriter, r *http.Request, v people.Visitor) (broadcasts.Broadcast, bool) {
	b, ok := h.read(w, r, v)
	if !ok {
		return b, false
	}
	if b.State != broadcasts.Draft && b.State != broadcasts.Scheduled {
		h.Refuse(w, r, v, http.StatusConflict, "This broadcast cannot be edited", "Its state is "+states[b.State].Name+" now. Write a new broadcast to send another message.")
		return b, false
	}
	return b, true
}

// compose writes the form. before is the broadcast to change, nil for a new one. refused is
// the error of a save, nil for none.
func (h composePages) compose(w http.ResponseWriter, r *http.Request, v people.Visitor, data composePage, before *broadcasts.Broadcast, refused error) {
	status, problem := http.StatusOK, ""
	if refused != nil {
		if problem, status = labels.Correctable(refused); problem == "" {
			h.Fail(w, r, v, refused)
			return
		}
		data.Faults = faultsOf(refused)
	}
	if len(data.Faults) > 0 {
		status = http.StatusUnprocessableEntity
		data.Faults = data.Faults.sentences()
		problem = "The broadcast is not saved. Correct the marked fields."
	}
	var err error
	if data.Choices, err = h.choices(r, v, data.Fields); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if data.Reach, err = h.reachOfFields(r, v, data.Fields, before); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data.Form, data.Back = frame.FormTo(v, r.URL.Path), Path
	if data.Once == "" {
		data.Once = core.NewID()
	}
	head := frame.Head{Title: "New broadcast", Lead: "Nothing is sent until you confirm it on another page."}
	if before != nil {
		data.Back, data.Part = Path+"/"+before.ID, partOf(before.Share)
		name := frame.PlainName(before.Name)
		head = frame.Head{Title: "Edit " + name, Parents: []frame.Link{{Path: data.Back, Name: name}}}
	}
	h.Show(w, r, v, status, frame.Screen{Page: "compose", Title: head.Title, Head: head, Problem: problem, Data: data})
}

// createBroadcast stores a draft and redirects to its page, or answers one of the other
// buttons.
func (h composePages) createBroadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	data := composePage{Fields: fieldsOf(r), Once: once}
	d, ok := h.toSave(w, r, v, &data, nil)
	if !ok {
		return
	}
	var made struct {
		ID string `json:"id"`
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "broadcasts_create", Arguments: d, Once: once}, &made); err != nil {
		h.compose(w, r, v, data, nil, err)
		return
	}
	frame.RedirectWithNotice(w, Path+"/"+made.ID, "created")
}

// editBroadcast replaces what a broadcast says and redirects to its page, or answers one of
// the other buttons.
func (h composePages) editBroadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.editable(w, r, v)
	if !ok {
		return
	}
	data := composePage{Fields: fieldsOf(r), Revision: revisionOf(r)}
	d, ok := h.toSave(w, r, v, &data, &b)
	if !ok {
		return
	}
	err := h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
		if _, err := h.Broadcasts.Edit(ctx, v.Org.ID, b.ID, data.Revision, d); err != nil {
			return err
		}
		return h.Record(ctx, v, "broadcast.edited", b.ID, nil)
	})
	if err != nil {
		h.compose(w, r, v, data, &b, err)
		return
	}
	frame.RedirectWithNotice(w, Path+"/"+b.ID, "saved")
}

// toSave returns the definition to save. If it returns false, it has written the form again:
// another button was pressed, or fields have faults.
func (h composePages) toSave(w http.ResponseWriter, r *http.Request, v people.Visitor, data *composePage, before *broadcasts.Broadcast) (broadcasts.Definition, bool) {
	if do := r.PostForm.Get(fieldDo); do == doFind || do == doCount {
		h.compose(w, r, v, *data, before, nil)
		return broadcasts.Definition{}, false
	}
	d, bad := data.Fields.definition()
	if len(bad) > 0 {
		data.Faults = bad
		h.compose(w, r, v, *data, before, nil)
		return d, false
	}
	return d, true
}
