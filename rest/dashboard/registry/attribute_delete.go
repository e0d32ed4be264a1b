package registry

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// showDeleteAttribute shows what deleting an attribute would do.
func (h attributeHandlers) showDeleteAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseRepository(w, r, v) {
		return
	}
	if a, ok := h.attributeOf(w, r, v); ok {
		h.confirmDelete(w, r, v, h.deletionOf(v, a))
	}
}

// deleteAttribute deletes an attribute and redirects to the list.
func (h attributeHandlers) deleteAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if a, ok := h.attributeOf(w, r, v); ok {
		h.deleteReviewed(w, r, v, h.deletionOf(v, a))
	}
}

// deletionOf describes the deletion of an attribute.
func (h attributeHandlers) deletionOf(v people.Visitor, a attribute) deletion {
	here := AttributesPath + "/" + a.ID
	return deletion{
		ID: a.ID, Definition: a, Operation: "attributes_delete", List: AttributesPath, Notice: "deleted",
		Title: "Delete " + frame.PlainName(a.Name), Parents: parentOf(a),
		Preview: func(ctx context.Context) (any, error) { return h.Attributes.PreviewDelete(ctx, v.Org.ID, a.ID) },
		Page: deletePage{
			Form: frame.FormTo(v, here+"/delete"), Button: "Delete attribute", Back: here,
			Text: "The values stay stored, but reads omit them. If the name is registered again, the values that fit the type return.",
		},
	}
}
