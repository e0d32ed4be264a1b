package tags

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// newColor is the color that the form suggests for a new tag.
const newColor = "#2563eb"

// tagForm is the data of the form that creates or changes a tag.
type tagForm struct {
	Form        frame.Form
	New         bool
	Name, Color string
	MaxName     int
	Back        string
}

// typedTag returns the values of a sent form.
func typedTag(r *http.Request) tags.Wording {
	return tags.Wording{Name: r.PostForm.Get("name"), Color: r.PostForm.Get("color")}
}

// showNew shows the form that creates a tag.
func (h *Room) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.admit(w, r, v) {
		h.tagForm(w, r, v, tags.Wording{Color: newColor}, nil)
	}
}

// showEdit shows the form that changes a tag.
func (h *Room) showEdit(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if t, ok := h.changeable(w, r, v); ok {
		h.tagForm(w, r, v, tags.Wording{Name: t.Name, Color: t.Color}, nil)
	}
}

// changeable returns the tag that the path names. If it returns false, it has written an
// answer: the visitor may not change tags, or the tag does not exist.
func (h *Room) changeable(w http.ResponseWriter, r *http.Request, v people.Visitor) (tags.Tag, bool) {
	if !h.admit(w, r, v) {
		return tags.Tag{}, false
	}
	all, err := h.Tags.All(r.Context(), v.Org.ID)
	for _, t := range all {
		if t.ID == r.PathValue("id") {
			return t, true
		}
	}
	if err == nil {
		err = core.NotFound("tag")
	}
	h.Fail(w, r, v, err)
	return tags.Tag{}, false
}

// tagForm writes the form of the request's path with the given values. refused is the error
// of the sent form, or nil.
func (h *Room) tagForm(w http.ResponseWriter, r *http.Request, v people.Visitor, typed tags.Wording, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	data := tagForm{Form: frame.FormTo(v, r.URL.Path), New: r.URL.Path == newPath, Name: typed.Name, Color: typed.Color, MaxName: tags.MaxName, Back: Path}
	title := "Edit tag"
	if data.New {
		title = "Create tag"
	}
	h.Show(w, r, v, status, frame.Screen{Page: "form", Title: title, Head: frame.Head{Title: title}, Problem: problem, Data: data})
}

// createTag stores a new tag and redirects to the list.
func (h *Room) createTag(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.admit(w, r, v) {
		return
	}
	typed := typedTag(r)
	err := h.TransactorWith(v, editPermission(v)).InTx(r.Context(), func(ctx context.Context) error {
		created, err := h.Tags.Create(ctx, v.Org.ID, typed)
		if err != nil {
			return err
		}
		return h.Record(ctx, v, "tag.created", created.ID, map[string]any{"name": created.Name, "color": created.Color})
	})
	if err != nil {
		h.tagForm(w, r, v, typed, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "created")
}

// editTag changes the name and the color of a tag and redirects to the list.
func (h *Room) editTag(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.admit(w, r, v) {
		return
	}
	typed, id := typedTag(r), r.PathValue("id")
	err := h.TransactorWith(v, editPermission(v)).InTx(r.Context(), func(ctx context.Context) error {
		before, after, err := h.Tags.Edit(ctx, v.Org.ID, id, typed)
		if err != nil || before == after {
			return err
		}
		detail := map[string]any{}
		if before.Name != after.Name {
			detail["name"] = access.Edited{Before: before.Name, After: after.Name}
		}
		if before.Color != after.Color {
			detail["color"] = access.Edited{Before: before.Color, After: after.Color}
		}
		return h.Record(ctx, v, "tag.updated", id, detail)
	})
	if err != nil {
		h.tagForm(w, r, v, typed, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "saved")
}

// deletePage is the data of the page that asks before a tag is deleted.
type deletePage struct {
	Form                  frame.Form
	Name                  string
	Templates, Broadcasts string
	Back                  string
}

// showDelete asks whether to delete a tag.
func (h *Room) showDelete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	t, ok := h.changeable(w, r, v)
	if !ok {
		return
	}
	const title = "Delete tag?"
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "delete", Title: title, Head: frame.Head{Title: title}, Data: deletePage{
		Form: frame.FormTo(v, r.URL.Path), Name: frame.PlainName(t.Name), Back: Path,
		Templates: frame.Quantity(int64(t.TemplateCount), "template", "templates"), Broadcasts: frame.Quantity(int64(t.BroadcastCount), "broadcast", "broadcasts"),
	}})
}

// deleteTag deletes a tag and redirects to the list.
func (h *Room) deleteTag(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.admit(w, r, v) {
		return
	}
	err := h.TransactorWith(v, editPermission(v)).InTx(r.Context(), func(ctx context.Context) error {
		gone, err := h.Tags.Delete(ctx, v.Org.ID, r.PathValue("id"))
		if err != nil {
			return err
		}
		return h.Record(ctx, v, "tag.deleted", gone.ID, map[string]any{"name": gone.Name})
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "deleted")
}
