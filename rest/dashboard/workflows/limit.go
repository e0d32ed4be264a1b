package workflows

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows/wording"
)

// limitPage is the data of the page with the limit of messages.
type limitPage struct {
	Form     frame.Form
	Back     string
	Limited  bool
	Messages string
	Amount   string
	Units    []frame.Option
}

// limitLabels are the names of the form's fields in refusals.
var limitLabels = frame.Labels{"messages": "The number of messages", "per": "The period"}

// showLimit shows the limit of messages of workflows to a contact.
func (h changePages) showLimit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	limit, err := h.Editor.Cap(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := limitPage{Messages: "3", Amount: "1"}
	unit := predicate.Week
	if limit != nil {
		data.Limited, data.Messages, data.Amount, unit = true, strconv.Itoa(limit.Messages), strconv.Itoa(limit.Per.Amount), limit.Per.Unit
	}
	h.limit(w, r, v, data, unit.Word(), nil)
}

// limit writes the page. refused is the error of a form, nil for none.
func (h changePages) limit(w http.ResponseWriter, r *http.Request, v people.Visitor, data limitPage, unit string, refused error) {
	problem, status := limitLabels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	data.Form, data.Back = frame.FormTo(v, r.URL.Path), Path
	for _, u := range wording.Units {
		data.Units = append(data.Units, frame.Option{Value: u.Word(), Name: u.Word() + "s", Chosen: u.Word() == unit})
	}
	head := frame.Head{Title: "Limit of messages", Lead: "How many messages of all workflows together a contact gets. Broadcasts do not count."}
	h.Show(w, r, v, status, frame.Screen{Page: "limit", Title: head.Title, Head: head, Problem: problem, Data: data})
}

// saveLimit stores the limit in the form, or removes it.
func (h changePages) saveLimit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data := limitPage{
		Limited: r.PostForm.Get("limited") == "yes", Messages: strings.TrimSpace(r.PostForm.Get("messages")), Amount: strings.TrimSpace(r.PostForm.Get("amount")),
	}
	unit := r.PostForm.Get("unit")
	var limit *language.Cap
	var err error
	if data.Limited {
		limit, err = wording.ParseLimit(data.Messages, data.Amount, unit)
	}
	if err == nil {
		err = h.TransactorWith(v, members.MayManageCampaigns).InTx(r.Context(), func(ctx context.Context) error {
			before, err := h.Editor.Cap(ctx, v.Org.ID)
			if err != nil {
				return err
			}
			if err := h.Editor.SetCap(ctx, v.Org.ID, limit); err != nil {
				return err
			}
			return h.Record(ctx, v, "workflows.limit_set", v.Org.ID, map[string]any{"limit": map[string]string{"before": wording.LimitWords(before), "after": wording.LimitWords(limit)}})
		})
	}
	if err != nil {
		h.limit(w, r, v, data, unit, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "limit")
}
