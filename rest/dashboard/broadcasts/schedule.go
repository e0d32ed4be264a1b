package broadcasts

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// revisionOf returns the revision of the broadcast that a form shows. A form without one
// changes no broadcast, because no broadcast has this revision.
func revisionOf(r *http.Request) int {
	n, err := strconv.Atoi(r.PostForm.Get("revision"))
	if err != nil || n < 1 {
		return -1
	}
	return n
}

// rescheduleBroadcast moves a scheduled broadcast to the time in the form.
func (h changePages) rescheduleBroadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.read(w, r, v)
	if !ok {
		return
	}
	at, err := time.Parse(fieldTime, r.PostForm.Get("at"))
	if err != nil {
		h.refused(w, r, v, core.Invalid("scheduled_at", "is not a date and a time of day"))
		return
	}
	h.apply(w, r, v, b, "rescheduled", "broadcast.rescheduled", map[string]any{"scheduled_at": at.UTC().Format(time.RFC3339)}, func(ctx context.Context) error {
		_, err := h.Broadcasts.Reschedule(ctx, v.Org.ID, b.ID, revisionOf(r), &at)
		return err
	})
}

// setRate sets the maximum number of messages a minute. An empty field removes the limit.
func (h changePages) setRate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.read(w, r, v)
	if !ok {
		return
	}
	text, rate := strings.TrimSpace(r.PostForm.Get("rate_per_minute")), 0
	if text != "" {
		var err error
		if rate, err = strconv.Atoi(text); err != nil || rate < 1 {
			h.refused(w, r, v, core.Invalid("rate_per_minute", "is not a number from 1 on; leave it empty for no limit"))
			return
		}
	}
	h.apply(w, r, v, b, "rate", "broadcast.rate_changed", map[string]any{"rate_per_minute": map[string]int{"before": b.Rate, "after": rate}}, func(ctx context.Context) error {
		_, err := h.Broadcasts.SetRate(ctx, v.Org.ID, b.ID, rate)
		return err
	})
}

// splitBroadcast makes two drafts of one: the new one goes to the percentage in the form, and
// the other one to the rest. It redirects to the new one.
func (h changePages) splitBroadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.read(w, r, v)
	if !ok {
		return
	}
	percent, err := strconv.Atoi(strings.TrimSpace(r.PostForm.Get("percent")))
	if err != nil {
		h.refused(w, r, v, core.Invalid("percent", "is not a whole number"))
		return
	}
	first := b
	h.applyTo(w, r, v, &first, "split", "broadcast.split", map[string]any{"percent": percent, "rest": b.ID}, func(ctx context.Context) error {
		var err error
		first, err = h.Broadcasts.Split(ctx, callOf(v, h.Clock()), v.Org.ID, b.ID, percent)
		return err
	})
}

// callOf returns a call by the visitor, who becomes the author of what it creates.
func callOf(v people.Visitor, now time.Time) *core.Call {
	return &core.Call{Surface: core.Dashboard, Now: now, Principal: core.Principal{
		Org: v.Org, UserID: v.User.ID, Scopes: v.Member.Scopes(), Credential: core.Credential{Kind: core.Person, ID: v.User.ID, Name: "dashboard", Environment: core.Live},
	}}
}

// showDelete asks whether to delete the broadcast.
func (h changePages) showDelete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	b, ok := h.read(w, r, v)
	if !ok {
		return
	}
	effect := "It and its results are deleted. The messages and their events stay."
	if b.State == broadcasts.Draft || b.State == broadcasts.Scheduled {
		effect = "It is deleted and not sent."
	}
	h.question(w, r, v, b, "Delete this broadcast?", changePage{Effect: effect, Button: "Delete broadcast", Danger: true, Once: core.NewID()})
}

// deleteBroadcast deletes the broadcast and redirects to the list.
func (h changePages) deleteBroadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "broadcasts_delete", Arguments: map[string]string{"id": id}, Once: once}, nil); err != nil {
		h.refused(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "deleted")
}
