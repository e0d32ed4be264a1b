package tags

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/tags"
	stored "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// choice is a tag in the form with the tags of a template.
type choice struct {
	ID, Name, Color string
	Chosen          bool
}

// templatePage is the data of the form with the tags of a template.
type templatePage struct {
	Form    frame.Form
	Choices []choice
	// Create is the page that creates a tag, and Back the page of the template.
	Create, Back string
}

// showOfTemplate shows the form that sets the tags of a template.
func (h *Room) showOfTemplate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.tagged(w, r, v)
	if !ok {
		return
	}
	chosen, err := h.Tags.OfTemplate(r.Context(), v.Org.ID, t.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.templateForm(w, r, v, t, idsOf(chosen), nil)
}

// tagged returns the template that the path names. If it returns false, it has written an
// answer: the visitor may not change tags, the template does not exist, or a repository
// defines its tags.
func (h *Room) tagged(w http.ResponseWriter, r *http.Request, v people.Visitor) (stored.Template, bool) {
	if !h.admit(w, r, v) {
		return stored.Template{}, false
	}
	t, err := h.Templates.Record(r.Context(), v.Org.ID, r.PathValue("slug"))
	if err != nil {
		h.Fail(w, r, v, err)
		return t, false
	}
	if v.Org.GitConnected && t.Source != stored.Import {
		e := core.RefuseGitOwned("template")
		h.Refuse(w, r, v, e.HTTPStatus(), e.Message, e.NextStep())
		return t, false
	}
	return t, true
}

// templateForm writes the form with the chosen tags. refused is the error of the sent form,
// or nil.
func (h *Room) templateForm(w http.ResponseWriter, r *http.Request, v people.Visitor, t stored.Template, chosen []string, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	all, err := h.Tags.All(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := templatePage{Form: frame.FormTo(v, r.URL.EscapedPath()), Create: newPath, Back: templatesPath + "/" + url.PathEscape(t.Slug)}
	for _, one := range all {
		data.Choices = append(data.Choices, choice{one.ID, frame.PlainName(one.Name), one.Color, slices.Contains(chosen, one.ID)})
	}
	name := frame.PlainName(t.Name)
	head := frame.Head{Title: "Tags of template", Parents: []frame.Link{{Path: data.Back, Name: name}}}
	h.Show(w, r, v, status, frame.Screen{Page: "template", Title: "Tags of " + name, Head: head, Problem: problem, Data: data})
}

// setOfTemplate replaces the tags of a template and redirects to its page.
func (h *Room) setOfTemplate(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.tagged(w, r, v)
	if !ok {
		return
	}
	chosen := r.PostForm["tags"]
	err := h.TransactorWith(v, editPermission(v)).InTx(r.Context(), func(ctx context.Context) error {
		before, err := h.Tags.OfTemplate(ctx, v.Org.ID, t.ID)
		if err != nil {
			return err
		}
		if err := h.Tags.SetOfTemplate(ctx, v.Org.ID, t.ID, chosen); err != nil {
			return err
		}
		after, err := h.Tags.OfTemplate(ctx, v.Org.ID, t.ID)
		if err != nil || slices.Equal(before, after) {
			return err
		}
		return h.Record(ctx, v, "template.tags_updated", t.ID, map[string]any{"slug": t.Slug, "added": missingIn(before, after), "removed": missingIn(after, before)})
	})
	if err != nil {
		h.templateForm(w, r, v, t, chosen, err)
		return
	}
	frame.SeeOther(w, templatesPath+"/"+url.PathEscape(t.Slug))
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
