package webhooks

import (
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The names of the form fields. Errors of core/webhooks name the same fields.
const (
	fieldURL         = "url"
	fieldDescription = "description"
	fieldEvents      = "events"
	fieldEnabled     = "enabled"
)

// labels has, for each form field, the words that name it in the error text of a refused
// form.
var labels = frame.Labels{fieldURL: "The URL", fieldDescription: "The description", fieldEvents: "The events"}

// eventWords says when an event of each type happens.
var eventWords = map[webhooks.EventType]string{
	webhooks.Sent:         "The sending account accepted the message.",
	webhooks.Delivered:    "The recipient's mail server accepted the message.",
	webhooks.Bounced:      "The message could not be delivered.",
	webhooks.Complained:   "The recipient marked the message as spam.",
	webhooks.Opened:       "The recipient's mail program loaded the tracking image.",
	webhooks.Clicked:      "The recipient opened a tracked link.",
	webhooks.Unsubscribed: "The recipient opted out of a topic or of all mail.",
}

// eventChoice is a checkbox of the form.
type eventChoice struct {
	Type   webhooks.EventType
	Words  string
	Chosen bool
}

// formPage is the data of the form for a new or changed endpoint.
type formPage struct {
	Form     frame.Form
	Once     string // the id that a new endpoint gets, "" for a change; see frame.ReadOnceID
	Settings webhooks.Settings
	Events   []eventChoice
	Verb     string
}

// chosenSettings returns the settings in a submitted form.
func chosenSettings(r *http.Request) webhooks.Settings {
	s := webhooks.Settings{URL: r.PostForm.Get(fieldURL), Description: r.PostForm.Get(fieldDescription), Enabled: r.PostForm.Has(fieldEnabled)}
	for _, name := range r.PostForm[fieldEvents] {
		s.Types = append(s.Types, webhooks.EventType(name))
	}
	return s
}

// showForm writes the form with the given settings. refused is the error of the submitted
// form, or nil.
func (h *Webhooks) showForm(w http.ResponseWriter, r *http.Request, v people.Visitor, title string, head frame.Head, data formPage, refused error) {
	problem, status := labels.Correctable(refused)
	for _, t := range webhooks.EventTypes() {
		data.Events = append(data.Events, eventChoice{t, eventWords[t], slices.Contains(data.Settings.Types, t)})
	}
	h.Show(w, r, v, status, frame.Screen{Page: "endpoint_form", Title: title, Head: head, Problem: problem, Data: data})
}

// newForm writes the form for a new endpoint.
func (h *Webhooks) newForm(w http.ResponseWriter, r *http.Request, v people.Visitor, s webhooks.Settings, refused error) {
	h.showForm(w, r, v, "New endpoint", frame.Head{}, formPage{Form: frame.FormTo(v, newPath), Once: core.NewID(), Settings: s, Verb: "Add"}, refused)
}

// showNew shows the form for a new endpoint. The types that most receivers need are marked.
func (h *Webhooks) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.Confirm(w, r, v, newPath) {
		h.newForm(w, r, v, webhooks.Settings{Enabled: true, Types: []webhooks.EventType{webhooks.Bounced, webhooks.Complained, webhooks.Unsubscribed}}, nil)
	}
}

// create stores an endpoint and shows its secret once. A refused form is shown again with its
// values.
func (h *Webhooks) create(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, newPath) {
		return
	}
	id, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	s := chosenSettings(r)
	e, secret, err := h.permitted(v).Create(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id, s)
	switch {
	case err == nil:
		h.showSecret(w, r, v, e, secret)
	case frame.IsRepeated(err) && h.exists(r, v, id):
		h.RefuseRepeated(w, r, v, ListPath, true)
	default:
		if problem, _ := labels.Correctable(err); problem == "" {
			h.Fail(w, r, v, err)
			return
		}
		h.newForm(w, r, v, s, err)
	}
}

// exists reports whether an endpoint with this id is stored.
func (h *Webhooks) exists(r *http.Request, v people.Visitor, id string) bool {
	_, err := h.hooks.Store.Endpoint(r.Context(), v.Org.ID, id)
	return err == nil
}

// showEdit shows the form for changing an endpoint.
func (h *Webhooks) showEdit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, ListPath+"/"+e.ID+"/edit") {
		return
	}
	h.editForm(w, r, v, e, webhooks.Settings{URL: e.URL, Description: e.Description, Types: e.Types, Enabled: e.Enabled}, nil)
}

// editForm writes the form for changing an endpoint.
func (h *Webhooks) editForm(w http.ResponseWriter, r *http.Request, v people.Visitor, e webhooks.Endpoint, s webhooks.Settings, refused error) {
	row := h.newRow(e)
	h.showForm(w, r, v, "Edit "+row.title(), under(row), formPage{Form: frame.FormTo(v, row.Path+"/edit"), Settings: s, Verb: "Save"}, refused)
}

// edit stores the changed settings of an endpoint. A refused form is shown again.
func (h *Webhooks) edit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	e, ok := h.endpointOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, ListPath+"/"+e.ID+"/edit") {
		return
	}
	s := chosenSettings(r)
	_, err := h.permitted(v).Edit(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, e.ID, s)
	if labels.Problem(err) != "" {
		h.editForm(w, r, v, e, s, err)
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ListPath+"/"+e.ID, "edited")
}
