package registry

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// deletePage is the data of a page that shows the impact before a definition is deleted.
type deletePage struct {
	Form   frame.Form
	Once   string
	Impact impact
	Text   string // what stays after the deletion
	Button string
	Back   string
}

// previewDelete returns the effects of deleting a definition. read previews them; it reads
// many rows.
func (g *Registry) previewDelete(r *http.Request, v people.Visitor, read func(context.Context) (any, error)) (mutation, error) {
	var effects any
	err := g.Expensive(r.Context(), v.Org.ID, func(ctx context.Context) error {
		var err error
		effects, err = read(ctx)
		return err
	})
	if err != nil {
		return mutation{}, err
	}
	return newMutation(effects)
}

// showDeleteAttribute shows what deleting an attribute would do.
func (h attributeHandlers) showDeleteAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseRepository(w, r, v) {
		return
	}
	a, ok := h.attributeOf(w, r, v)
	if !ok {
		return
	}
	preview, err := h.previewDelete(r, v, func(ctx context.Context) (any, error) { return h.Attributes.PreviewDelete(ctx, v.Org.ID, a.ID) })
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := deletePage{
		Form: frame.FormTo(v, AttributesPath+"/"+a.ID+"/delete"), Once: core.NewID(), Button: "Delete attribute", Back: AttributesPath + "/" + a.ID, Impact: preview.shown(),
		Text: "The values stay stored, but reads omit them. If the name is registered again, the values that fit the type return.",
	}
	title := "Delete " + frame.PlainName(a.Name)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "delete", Title: title, Head: frame.Head{Title: title, Parents: parentOf(a)}, Data: data})
}

// deleteAttribute deletes an attribute and redirects to the list.
func (h attributeHandlers) deleteAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	a, ok := h.attributeOf(w, r, v)
	if !ok {
		return
	}
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "attributes_delete", Arguments: map[string]any{"id": a.ID}, Once: once}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, AttributesPath, "deleted")
}
