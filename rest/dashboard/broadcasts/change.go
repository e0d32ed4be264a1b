package broadcasts

import (
	"context"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// change is a change of a broadcast's state.
type change struct {
	Button, Heading, Effect string
	Danger                  bool
	// From are the states in which it is possible.
	From []broadcasts.State
	// Notice is the name of the message after the change. Action is its name in the audit
	// log.
	Notice, Action string
	Do             func(ctx context.Context, on Broadcasts, orgID string, b broadcasts.Broadcast) error
}

// changes are the changes of a broadcast's state, by their name in the page's address.
var changes = map[string]change{
	"pause": {
		Button: "Pause", Heading: "Pause this broadcast?", From: []broadcasts.State{broadcasts.Scheduled, broadcasts.Sending}, Notice: "paused", Action: "broadcast.paused",
		Effect: "Nothing more is sent until you resume it. Messages that are being passed to the account still leave.",
		Do: func(ctx context.Context, on Broadcasts, orgID string, b broadcasts.Broadcast) error {
			_, err := on.Pause(ctx, orgID, b.ID)
			return err
		},
	},
	"resume": {
		Button: "Resume", Heading: "Resume this broadcast?", From: []broadcasts.State{broadcasts.Scheduled, broadcasts.Sending}, Notice: "resumed", Action: "broadcast.resumed",
		Effect: "The broadcast goes on with the recipients that have no outcome yet.",
		Do: func(ctx context.Context, on Broadcasts, orgID string, b broadcasts.Broadcast) error {
			_, err := on.Resume(ctx, orgID, b.ID)
			return err
		},
	},
	"cancel": {
		Button: "Cancel broadcast", Heading: "Cancel this broadcast?", From: []broadcasts.State{broadcasts.Draft, broadcasts.Scheduled}, Danger: true, Notice: "cancelled", Action: "broadcast.cancelled",
		Effect: "It is not sent. It stays in the list as cancelled, and cannot be sent later.",
		Do: func(ctx context.Context, on Broadcasts, orgID string, b broadcasts.Broadcast) error {
			_, err := on.Cancel(ctx, orgID, b.ID)
			return err
		},
	},
	"unschedule": {
		Button: "Make it a draft", Heading: "Make this broadcast a draft again?", From: []broadcasts.State{broadcasts.Scheduled}, Notice: "unscheduled", Action: "broadcast.unscheduled",
		Effect: "It is not sent at its time. You can edit it and send it later.",
		Do: func(ctx context.Context, on Broadcasts, orgID string, b broadcasts.Broadcast) error {
			_, err := on.Reschedule(ctx, orgID, b.ID, 0, nil)
			return err
		},
	},
}

// changePage is the data of the page that asks before a change.
type changePage struct {
	Name, Effect, Button string
	Danger               bool
	Back                 string
	Form                 frame.Form
	Once                 string // "" for a change without an operation
}

// allowed returns the broadcast and the change that the request names. If it returns false,
// it has written an answer.
func (h changePages) allowed(w http.ResponseWriter, r *http.Request, v people.Visitor) (broadcasts.Broadcast, change, bool) {
	c, known := changes[r.PathValue("change")]
	if !known {
		h.NoSuchPage(w, r, v)
		return broadcasts.Broadcast{}, c, false
	}
	b, ok := h.read(w, r, v)
	if ok && !slices.Contains(c.From, b.State) {
		h.Refuse(w, r, v, http.StatusConflict, "This broadcast cannot be changed in this way", "Its state is "+states[b.State].Name+" now. Open it to see what can be done with it.")
		return b, c, false
	}
	return b, c, ok
}

// showChange asks whether to change the state.
func (h changePages) showChange(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, c, ok := h.allowed(w, r, v)
	if !ok {
		return
	}
	h.question(w, r, v, b, c.Heading, changePage{Effect: c.Effect, Button: c.Button, Danger: c.Danger})
}

// question writes the page that asks before a change.
func (h changePages) question(w http.ResponseWriter, r *http.Request, v people.Visitor, b broadcasts.Broadcast, heading string, data changePage) {
	data.Name, data.Back, data.Form = frame.PlainName(b.Name), path(b, ""), frame.FormTo(v, r.URL.Path)
	head := frame.Head{Title: heading, Parents: []frame.Link{{Path: data.Back, Name: data.Name}}}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "change", Title: heading, Head: head, Data: data})
}

// changeState changes the state and redirects to the page of the broadcast.
func (h changePages) changeState(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, c, ok := h.allowed(w, r, v)
	if !ok {
		return
	}
	h.apply(w, r, v, b, c.Notice, c.Action, nil, func(ctx context.Context) error {
		return c.Do(ctx, h.Broadcasts, v.Org.ID, b)
	})
}

// apply makes a change in a transaction that checks the permission and records the change,
// and redirects to the page of the broadcast. A refused change is shown on that page.
func (h changePages) apply(w http.ResponseWriter, r *http.Request, v people.Visitor, b broadcasts.Broadcast, notice, action string, detail map[string]any, do func(context.Context) error) {
	h.applyTo(w, r, v, &b, notice, action, detail, do)
}

// applyTo is apply for a change that decides itself to which broadcast it leads.
func (h changePages) applyTo(w http.ResponseWriter, r *http.Request, v people.Visitor, b *broadcasts.Broadcast, notice, action string, detail map[string]any, do func(context.Context) error) {
	err := h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return h.Record(ctx, v, action, b.ID, detail)
	})
	if err != nil {
		h.refused(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, path(*b, ""), notice)
}
