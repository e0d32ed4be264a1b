package retention

import (
	"context"
	"embed"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the page.
const Path = frame.Path + "/retention"

// Room has the page; see dashboard.Room.
type Room struct {
	settings retention.Settings
	*frame.Pages
}

// New returns the page of this package. It fails if the template of the page cannot be read.
func New(f *frame.Frame, settings retention.Settings) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{settings, own}, nil
}

// Routes returns the route of the page.
func (h *Room) Routes() []frame.Route {
	return []frame.Route{{Path: "/retention", Needs: members.MayManageOrg, Get: h.show, Post: h.edit}}
}

// page is the data of the page.
type page struct {
	Form  frame.Form
	Kinds []kind
	Fixed []retention.FixedKind
}

// kind is a kind of records on the page.
type kind struct {
	retention.Period
	// Typed is the value of the field, "" for the default.
	Typed string
	// Default and Bounds are numbers in words.
	Default, Bounds string
	// Stored and Due are numbers of records in words, "" for none.
	Stored, Due string
	Oldest      frame.When
	// From is set while old records are not deleted yet.
	From frame.When
	Ran  frame.When
	// Deleted is the number of records that were deleted in all, "" for none.
	Deleted string
}

// labels has, for each form field, the words that name the field in the error text of a refused
// form.
var labels = func() frame.Labels {
	all := frame.Labels{}
	for _, k := range retention.Kinds() {
		all[string(k.Name)] = "The period of \"" + k.Title + "\""
	}
	return all
}()

// notices are the messages that the page shows after a change.
var notices = frame.Notices{
	"saved": "The periods are saved. They apply in 24 hours; until then nothing of what changed is deleted.",
	"same":  "Nothing was changed.",
}

func (h *Room) show(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.form(w, r, v, nil, nil)
}

// form writes the page. typed has the values of a sent form that was refused, and refused its
// error; both are nil otherwise.
func (h *Room) form(w http.ResponseWriter, r *http.Request, v people.Visitor, typed map[retention.Name]string, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	periods, err := h.settings.Periods(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := page{Form: frame.FormTo(v, Path), Fixed: retention.Fixed()}
	for _, p := range periods {
		k, err := h.kind(r.Context(), v.Org, p)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		if typed != nil {
			k.Typed = typed[p.Name]
		}
		data.Kinds = append(data.Kinds, k)
	}
	const title = "Retention"
	h.Show(w, r, v, status, frame.Screen{Page: "retention", Title: title, Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Title: title, Lead: "For how long records are kept. Older ones are deleted for good, a few at a time.",
	}})
}

// kind returns what the page shows about a period.
func (h *Room) kind(ctx context.Context, org core.Org, p retention.Period) (kind, error) {
	figures, err := h.settings.Figures(ctx, org, p)
	k := kind{
		Period: p, Default: frame.Quantity(int64(p.Default), "day", "days"), Bounds: core.WithCommas(p.Min) + " to " + frame.Quantity(int64(p.Max), "day", "days"),
		Stored: records(figures.Rows), Due: records(figures.Due), Oldest: h.When(figures.Oldest),
	}
	if p.IsSet {
		k.Typed = strconv.Itoa(p.Days)
	}
	if p.Days != retention.Forever && h.settings.Clock().Before(p.From) {
		k.From = h.When(p.From)
	}
	if p.RanAt != nil {
		k.Ran = h.When(*p.RanAt)
	}
	if p.Deleted > 0 {
		k.Deleted = core.WithCommas(p.Deleted)
	}
	return k, err
}

// records returns a number of records in words, "" for none.
func records(n int) string {
	switch {
	case n == 0:
		return ""
	case n >= retention.MaxCounted:
		return "more than " + frame.Quantity(int64(n), "record", "records")
	default:
		return frame.Quantity(int64(n), "record", "records")
	}
}

// edit stores the periods of a sent form and redirects to the page. A refused form is shown
// again with its values.
func (h *Room) edit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	typed := map[retention.Name]string{}
	var changes []retention.Change
	var faults []core.FieldError
	for _, name := range retention.Names() {
		if !r.PostForm.Has(string(name)) {
			continue
		}
		typed[name] = strings.TrimSpace(r.PostForm.Get(string(name)))
		change := retention.Change{Kind: name}
		if typed[name] != "" {
			days, err := strconv.Atoi(typed[name])
			if err != nil {
				faults = append(faults, core.FieldError{Field: string(name), Reason: "must be a whole number of days"})
			}
			change.Days = &days
		}
		changes = append(changes, change)
	}
	if len(faults) > 0 {
		h.form(w, r, v, typed, core.InvalidFields(faults...))
		return
	}
	changed := false
	err := h.TransactorWith(v, members.MayManageOrg).InTx(r.Context(), func(ctx context.Context) error {
		var err error
		changed, err = h.settings.Set(ctx, access.ActorOf(v.User.ID), v.Org.ID, changes...)
		return err
	})
	switch {
	case err != nil:
		h.form(w, r, v, typed, err)
	case changed:
		frame.RedirectWithNotice(w, Path, "saved")
	default:
		frame.RedirectWithNotice(w, Path, "same")
	}
}
