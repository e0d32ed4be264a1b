package registry

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// propertyLabels are the names of the form's fields in texts about errors.
var propertyLabels = frame.Labels{"activity_name": "The activity", "property": "The property", "type": "The type", "description": "The description"}

// propertyFields are the values of the form with the definition of a promoted property.
// Their JSON is that of the operations.
type propertyFields struct {
	ID          string `json:"id,omitempty"`
	Activity    string `json:"activity_name"`
	Property    string `json:"property"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// readPropertyFields returns the values of a submitted form, unchecked.
func readPropertyFields(r *http.Request, id string) propertyFields {
	form := r.PostForm
	return propertyFields{id, form.Get("activity_name"), form.Get("property"), form.Get("type"), form.Get("description")}
}

// propertyForm is the data of the page with the form of a new or an existing property.
type propertyForm struct {
	Form   frame.Form
	Once   string // see frame.ReadOnceID
	Fields propertyFields
	Types  []frame.Option
	New    bool
}

// propertyForm writes the form with the values of f. A new property has no id. refused is
// the error of the submitted form, or nil. If the form cannot correct it, the page of the
// error is written instead.
func (h propertyHandlers) propertyForm(w http.ResponseWriter, r *http.Request, v people.Visitor, f propertyFields, refused error) {
	problem, status := propertyLabels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	here, head := PropertiesPath+"/new", frame.Head{Title: "Promote a property", Lead: "Segments may test the property from then on. Values of another type count as absent.", Parents: propertyParents()}
	if f.ID != "" {
		here = PropertiesPath + "/" + f.ID + "/edit"
		head.Title, head.Lead = "Edit property", "The next page shows the impact on segments and contacts before anything is saved."
	}
	h.Show(w, r, v, status, frame.Screen{Page: "property_form", Title: head.Title, Head: head, Problem: problem, Data: propertyForm{
		Form: frame.FormTo(v, here), Once: core.NewID(), Fields: f, Types: typeOptions(f.Type)[:4], New: f.ID == "",
	}})
}

// propertyParents returns the link to the list of promoted properties.
func propertyParents() []frame.Link {
	return []frame.Link{{Path: PropertiesPath, Name: "Activity properties"}}
}

// showNewProperty shows the form that promotes a property. The query parameters activity
// and property fill it in.
func (h propertyHandlers) showNewProperty(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.refuseRepository(w, r, v) {
		asked := r.URL.Query()
		h.propertyForm(w, r, v, propertyFields{Activity: asked.Get("activity"), Property: asked.Get("property"), Type: "string"}, nil)
	}
}

// createProperty promotes a property and redirects to the list. A refused form is shown
// again with its values.
func (h propertyHandlers) createProperty(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	f := readPropertyFields(r, "")
	_, err := h.Do(r, v, frame.OperationCall{Operation: "activity_properties_create", Arguments: f, Once: once}, nil)
	if err != nil {
		h.propertyForm(w, r, v, f, err)
		return
	}
	frame.RedirectWithNotice(w, PropertiesPath, "created")
}

// showEditProperty shows the form with the definition of a promoted property.
func (h propertyHandlers) showEditProperty(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseRepository(w, r, v) {
		return
	}
	if p, ok := h.propertyOf(w, r, v); ok {
		h.propertyForm(w, r, v, propertyFields{p.ID, p.Activity, p.Property, p.Type, p.Description}, nil)
	}
}

// editProperty handles the steps of a change: it shows the impact, shows the form again, or
// saves the change and redirects to the list.
func (h propertyHandlers) editProperty(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	before, ok := h.propertyOf(w, r, v)
	if !ok {
		return
	}
	f := readPropertyFields(r, before.ID)
	h.revise(w, r, v, revision{
		Definition: before, Fields: f, Preview: "activity_properties_preview", Save: "activity_properties_replace", Rows: propertyChanges(before, f),
		Form:   func(err error) { h.propertyForm(w, r, v, f, err) },
		Review: func(preview mutation) { h.reviewProperty(w, r, v, before, f, preview) },
		Done:   PropertiesPath,
	})
}

// propertyReview is the data of the page that shows the impact of a change before it is
// saved. Its form repeats the fields.
type propertyReview struct {
	Form     frame.Form
	Once     string
	Reviewed string // of [reviewOf]
	Fields   propertyFields
	Rows     []reviewRow
	Impact   impact
}

// reviewProperty writes the page that shows the impact of a change.
func (h propertyHandlers) reviewProperty(w http.ResponseWriter, r *http.Request, v people.Visitor, before property, f propertyFields, preview mutation) {
	here := PropertiesPath + "/" + before.ID + "/edit"
	h.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "property_review", Title: "Review changes", Problem: problemOfReview(r),
		Head: frame.Head{Title: "Review changes", Lead: "Nothing is saved yet.", Parents: append(propertyParents(), frame.Link{Path: here, Name: "Edit property"})},
		Data: propertyReview{
			Form: frame.FormTo(v, here), Once: core.NewID(), Reviewed: reviewOf(before, preview), Fields: f, Impact: preview.shown(),
			Rows: propertyChanges(before, f),
		},
	})
}

// propertyChanges returns the fields of a property before and after a change.
func propertyChanges(before property, f propertyFields) []reviewRow {
	return []reviewRow{
		newReviewRow("Activity", before.Activity, f.Activity), newReviewRow("Property", before.Property, f.Property),
		newReviewRow("Type", before.Type, f.Type), newReviewRow("Description", before.Description, f.Description),
	}
}

// showEndProperty shows what ending the promotion of a property would do.
func (h propertyHandlers) showEndProperty(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseRepository(w, r, v) {
		return
	}
	if p, ok := h.propertyOf(w, r, v); ok {
		h.confirmDelete(w, r, v, h.endOf(v, p))
	}
}

// endProperty ends the promotion of a property and redirects to the list.
func (h propertyHandlers) endProperty(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if p, ok := h.propertyOf(w, r, v); ok {
		h.deleteReviewed(w, r, v, h.endOf(v, p))
	}
}

// endOf describes the end of a property's promotion.
func (h propertyHandlers) endOf(v people.Visitor, p property) deletion {
	return deletion{
		ID: p.ID, Definition: p, Operation: "activity_properties_delete", List: PropertiesPath, Notice: "ended",
		Title: "End promotion of " + frame.PlainName(p.Property), Parents: propertyParents(),
		Preview: func(ctx context.Context) (any, error) { return h.Activities.PreviewPropertyDelete(ctx, v.Org.ID, p.ID) },
		Page: deletePage{
			Form: frame.FormTo(v, PropertiesPath+"/"+p.ID+"/end"), Button: "End promotion", Back: PropertiesPath,
			Text: "Recorded activities keep the property in their data. Predicates can no longer test it.",
		},
	}
}
