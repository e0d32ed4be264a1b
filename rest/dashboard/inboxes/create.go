package inboxes

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// labels has, for each form field, the words that name it in the error text of a refused
// form.
var labels = frame.Labels{
	"ttl": "The life", "label": "The label", "allowed_senders": "The allowed senders", "account_ref": "The account of your customer", "visibility": "The visibility",
}

// lives are the choices for the life of an inbox, in seconds.
var lives = []frame.Option{{Value: "60", Name: "1 minute"}, {Value: "600", Name: "10 minutes"}, {Value: "1800", Name: "30 minutes"}, {Value: "3600", Name: "1 hour"}}

// newPage is the data of the form for a new inbox.
type newPage struct {
	Form                    frame.Form
	Once                    string
	Lives                   []frame.Option
	Label, Allowed, Account string
	Shared, Platform        bool
}

// showNew shows the form for a new inbox.
func (h *Inboxes) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.newForm(w, r, v, newPage{Lives: chooseLife("600")}, nil)
}

// chooseLife returns the choices for the life, with one marked.
func chooseLife(seconds string) []frame.Option {
	return frame.ChooseOption(append([]frame.Option{}, lives...), seconds)
}

// newForm writes the form for a new inbox. refused is the error of the submitted form, or nil.
func (h *Inboxes) newForm(w http.ResponseWriter, r *http.Request, v people.Visitor, data newPage, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && core.AsError(refused).Code == core.CodeRateLimited {
		problem, status = frame.TextOf(refused), http.StatusTooManyRequests
	}
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	data.Form, data.Once, data.Platform = frame.FormTo(v, newPath), core.NewID(), v.Org.PlatformMode
	h.Show(w, r, v, status, frame.Screen{Page: "inbox_new", Title: "New inbox", Problem: problem, Data: data})
}

// create creates an inbox and shows its address and its pull link. A refused form is shown
// again with its values.
func (h *Inboxes) create(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	form := r.PostForm
	data := newPage{Lives: chooseLife(form.Get("ttl")), Label: form.Get("label"), Allowed: form.Get("allowed_senders"), Account: form.Get("account_ref"), Shared: form.Has("shared")}
	arguments := map[string]any{"label": strings.TrimSpace(data.Label), "allowed_senders": strings.Fields(strings.ReplaceAll(data.Allowed, ",", " "))}
	ttl, err := strconv.Atoi(form.Get("ttl"))
	if err != nil {
		ttl = 0 // the operation refuses it by name
	}
	arguments["ttl"] = ttl
	if data.Account != "" {
		arguments["account_ref"] = strings.TrimSpace(data.Account)
	}
	if data.Shared {
		arguments["visibility"] = shared
	}
	var made inbox
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inboxes_create", Arguments: arguments, Once: once}, &made); err != nil {
		h.newForm(w, r, v, data, err)
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "inbox_created", Title: "Inbox created", Data: createdPage{
		Path: made.path(), Address: frame.Wrapped(made.Address), PullURL: made.PullURL, Expires: h.When(made.ExpiresAt),
	}})
}

// createdPage is the data of the page that shows a pull link once. Address is "" for a further
// pull link of an inbox.
type createdPage struct {
	Path    string
	Address frame.Wrapped
	PullURL string
	Expires frame.When
}
