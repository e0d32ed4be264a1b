package tags

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/tags"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// choice is a tag in the form with the tags of a template or a broadcast.
type choice struct {
	ID, Name, Color string
	Chosen          bool
}

// onePage is the data of the form with the tags of a template or a broadcast.
type onePage struct {
	Form    frame.Form
	Choices []choice
	// Create is the page that creates a tag, and Back the page of the template or broadcast.
	Create, Back string
}

// tagged is a template or a broadcast, and how its tags are read and set.
type tagged struct {
	// Kind is "template" or "broadcast".
	Kind, ID, Name string
	// Back is the path of its page.
	Back string
	// Detail is added to the audit entry, such as the slug of a template.
	Detail map[string]any
	Read   func(ctx context.Context, orgID, id string) ([]tags.Ref, error)
	Set    func(ctx context.Context, orgID, id string, tagIDs []string) error
	// Lock locks it in the transaction that sets its tags. It fails with core.CodeNotFound if
	// it was deleted since.
	Lock func(context.Context) error
}

// find returns what the path names. If it returns false, it has written an answer.
type find func(http.ResponseWriter, *http.Request, people.Visitor) (tagged, bool)

// template finds the template that the path names. It refuses one whose tags a repository
// defines.
func (h *Room) template(w http.ResponseWriter, r *http.Request, v people.Visitor) (tagged, bool) {
	t, err := h.Templates.Record(r.Context(), v.Org.ID, r.PathValue("slug"))
	if err != nil {
		h.Fail(w, r, v, err)
		return tagged{}, false
	}
	if v.Org.GitConnected && t.Source != stored.Import {
		e := core.RefuseGitOwned("template")
		h.Refuse(w, r, v, e.HTTPStatus(), e.Message, e.NextStep())
		return tagged{}, false
	}
	return tagged{
		Kind: "template", ID: t.ID, Name: t.Name, Back: templatesPath + "/" + url.PathEscape(t.Slug), Detail: map[string]any{"slug": t.Slug},
		Read: h.Tags.OfTemplate, Set: h.Tags.SetOfTemplate, Lock: func(context.Context) error { return nil },
	}, true
}

// broadcast finds the broadcast that the path names.
func (h *Room) broadcast(w http.ResponseWriter, r *http.Request, v people.Visitor) (tagged, bool) {
	b, err := h.Broadcasts.Broadcast(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		h.Fail(w, r, v, err)
		return tagged{}, false
	}
	lock := func(ctx context.Context) error {
		_, err := h.Broadcasts.Broadcast(ctx, v.Org.ID, b.ID)
		return err
	}
	return tagged{Kind: "broadcast", ID: b.ID, Name: b.Name, Back: broadcastsPath + "/" + b.ID, Read: h.Tags.OfBroadcast, Set: h.Tags.SetOfBroadcast, Lock: lock}, true
}

// handleOne returns a handler that checks the permission, finds the template or broadcast,
// and calls then with it.
func (h *Room) handleOne(find find, then func(http.ResponseWriter, *http.Request, people.Visitor, tagged)) frame.Handler {
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		if !h.admit(w, r, v) {
			return
		}
		if of, ok := find(w, r, v); ok {
			then(w, r, v, of)
		}
	}
}

// showOf shows the form that sets the tags of a template or broadcast.
func (h *Room) showOf(w http.ResponseWriter, r *http.Request, v people.Visitor, of tagged) {
	chosen, err := of.Read(r.Context(), v.Org.ID, of.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.oneForm(w, r, v, of, idsOf(chosen), nil)
}

// oneForm writes the form with the chosen tags. refused is the error of the sent form, or
// nil.
func (h *Room) oneForm(w http.ResponseWriter, r *http.Request, v people.Visitor, of tagged, chosen []string, refused error) {
	problem, status := frame.Labels{"tags": "The " + of.Kind}.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	all, err := h.Tags.All(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := onePage{Form: frame.FormTo(v, r.URL.EscapedPath()), Create: newPath, Back: of.Back}
	for _, one := range all {
		data.Choices = append(data.Choices, choice{one.ID, frame.PlainName(one.Name), one.Color, slices.Contains(chosen, one.ID)})
	}
	name := frame.PlainName(of.Name)
	head := frame.Head{Title: "Tags of " + of.Kind, Parents: []frame.Link{{Path: data.Back, Name: name}}}
	h.Show(w, r, v, status, frame.Screen{Page: "of_one", Title: "Tags of " + name, Head: head, Problem: problem, Data: data})
}

// setOf replaces the tags of a template or broadcast, and redirects to its page.
func (h *Room) setOf(w http.ResponseWriter, r *http.Request, v people.Visitor, of tagged) {
	chosen := r.PostForm["tags"]
	err := h.TransactorWith(v, editPermission(v)).InTx(r.Context(), func(ctx context.Context) error { return h.set(ctx, v, of, chosen) })
	if err != nil {
		h.oneForm(w, r, v, of, chosen, err)
		return
	}
	frame.SeeOther(w, of.Back)
}

// set replaces the tags and records the change.
func (h *Room) set(ctx context.Context, v people.Visitor, of tagged, chosen []string) error {
	if err := of.Lock(ctx); err != nil {
		return err
	}
	before, err := of.Read(ctx, v.Org.ID, of.ID)
	if err != nil {
		return err
	}
	if err := of.Set(ctx, v.Org.ID, of.ID, chosen); err != nil {
		return err
	}
	after, err := of.Read(ctx, v.Org.ID, of.ID)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	detail := map[string]any{"added": missingIn(before, after), "removed": missingIn(after, before)}
	maps.Copy(detail, of.Detail)
	return h.Record(ctx, v, of.Kind+".tags_updated", of.ID, detail)
}

// missingIn returns the names of the tags in found that are not in these.
func missingIn(these, found []tags.Ref) []string {
	names := []string{}
	for _, t := range found {
		if !slices.Contains(these, t) {
			names = append(names, t.Name)
		}
	}
	return names
}

func idsOf(refs []tags.Ref) []string {
	ids := make([]string, len(refs))
	for i, t := range refs {
		ids[i] = t.ID
	}
	return ids
}
