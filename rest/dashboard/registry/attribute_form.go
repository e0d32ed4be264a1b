package registry

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// attributeLabels are the names of the form's fields in texts about errors.
var attributeLabels = frame.Labels{"name": "The name", "type": "The type", "enum_values": "The values", "description": "The description"}

// attributeFields are the values of the form with the definition of an attribute. Their
// JSON is that of the operations.
type attributeFields struct {
	ID          string   `json:"id,omitempty"`
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	EnumValues  []string `json:"enum_values,omitempty"`
	Description string   `json:"description,omitempty"`
}

// fields returns the form values of a stored attribute.
func (a attribute) fields() attributeFields {
	return attributeFields{a.ID, a.Name, a.Type, a.EnumValues, a.Description}
}

// hasLineBreak reports whether a value contains a line break. A form with one value on each
// line cannot state such a value.
func (a attribute) hasLineBreak() bool {
	return slices.ContainsFunc(a.EnumValues, func(value string) bool { return strings.ContainsAny(value, "\r\n") })
}

// readAttributeFields returns the values of a submitted form, unchecked. The values of an
// enum are on a line each. before is the stored attribute, whose enum values the form keeps
// if it cannot state them; for a new attribute it is the zero attribute.
func readAttributeFields(r *http.Request, before attribute) attributeFields {
	f := attributeFields{
		ID: before.ID, Name: strings.TrimSpace(r.PostForm.Get("name")), Type: r.PostForm.Get("type"), Description: r.PostForm.Get("description"),
	}
	switch {
	case f.Type != string(attributes.Enum):
	case before.hasLineBreak():
		f.EnumValues = before.EnumValues
	default:
		for _, line := range strings.Split(r.PostForm.Get("enum_values"), "\n") {
			if value := strings.TrimSuffix(line, "\r"); strings.TrimSpace(value) != "" {
				f.EnumValues = append(f.EnumValues, value)
			}
		}
	}
	return f
}

// attributeForm is the data of the page with the form of a new or an existing attribute.
type attributeForm struct {
	Form   frame.Form
	Once   string // see frame.ReadOnceID
	Fields attributeFields
	Values string // the values of an enum, each on its line
	Types  []frame.Option
	New    bool
	// Fixed is true if the form cannot state the values of the enum, and keeps them.
	Fixed bool
}

// typeOptions returns the types of attributes with the chosen one marked.
func typeOptions(chosen string) []frame.Option {
	return frame.ChooseOption([]frame.Option{
		{Value: "string", Name: "String: any text"},
		{Value: "number", Name: "Number"},
		{Value: "bool", Name: "Bool: true or false"},
		{Value: "datetime", Name: "Datetime: an instant or a date"},
		{Value: "enum", Name: "Enum: one of the values below"},
	}, chosen)
}

// attributeForm writes the form with the values of f. before is the stored attribute; the
// zero attribute means a new one. refused is the error of the submitted form, or nil. If the
// form cannot correct it, the page of the error is written instead.
func (h attributeHandlers) attributeForm(w http.ResponseWriter, r *http.Request, v people.Visitor, before attribute, f attributeFields, refused error) {
	problem, status := attributeLabels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	data := attributeForm{Once: core.NewID(), Fields: f, Types: typeOptions(f.Type), New: before.ID == "", Fixed: before.hasLineBreak(), Values: strings.Join(f.EnumValues, "\n")}
	here, head := AttributesPath+"/new", frame.Head{Title: "New attribute", Lead: "Contacts may have values of it from then on. Stored values of a deleted attribute with this name return if they fit."}
	if !data.New {
		here, head = AttributesPath+"/"+before.ID+"/edit", frame.Head{Title: "Edit attribute", Lead: "The next page shows the impact on segments and contacts before anything is saved.", Parents: parentOf(before)}
	}
	data.Form = frame.FormTo(v, here)
	h.Show(w, r, v, status, frame.Screen{Page: "attribute_form", Title: head.Title, Head: head, Problem: problem, Data: data})
}

// parentOf returns the link to the page of an attribute.
func parentOf(a attribute) []frame.Link {
	return []frame.Link{{Path: AttributesPath + "/" + a.ID, Name: frame.PlainName(a.Name)}}
}

// showNewAttribute shows the form for a new attribute.
func (h attributeHandlers) showNewAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.refuseRepository(w, r, v) {
		h.attributeForm(w, r, v, attribute{}, attributeFields{Type: "string"}, nil)
	}
}

// createAttribute registers an attribute and redirects to its page. A refused form is shown
// again with its values.
func (h attributeHandlers) createAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	f := readAttributeFields(r, attribute{})
	var created attribute
	_, err := h.Do(r, v, frame.OperationCall{Operation: "attributes_create", Arguments: f, Once: once}, &created)
	if err == nil {
		frame.RedirectWithNotice(w, AttributesPath+"/"+created.ID, "created")
		return
	}
	h.attributeForm(w, r, v, attribute{}, f, err)
}

// showEditAttribute shows the form with the definition of an attribute.
func (h attributeHandlers) showEditAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.refuseRepository(w, r, v) {
		return
	}
	if a, ok := h.attributeOf(w, r, v); ok {
		h.attributeForm(w, r, v, a, a.fields(), nil)
	}
}

// editAttribute handles the steps of a change: it shows the impact, shows the form again, or
// saves the change and redirects to the attribute's page.
func (h attributeHandlers) editAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	before, ok := h.attributeOf(w, r, v)
	if !ok {
		return
	}
	f := readAttributeFields(r, before)
	h.revise(w, r, v, revision{
		Definition: before, Fields: f, Preview: "attributes_preview", Save: "attributes_update", Rows: attributeChanges(before, f),
		Form:   func(err error) { h.attributeForm(w, r, v, before, f, err) },
		Review: func(preview mutation) { h.reviewAttribute(w, r, v, before, f, preview) },
		Done:   AttributesPath + "/" + before.ID,
	})
}

// attributeReview is the data of the page that shows the impact of a change before it is
// saved. Its form repeats the fields.
type attributeReview struct {
	Form     frame.Form
	Once     string
	Reviewed string // of [reviewOf]
	Fields   attributeFields
	Values   string
	Rows     []reviewRow
	Impact   impact
}

// reviewAttribute writes the page that shows the impact of a change.
func (h attributeHandlers) reviewAttribute(w http.ResponseWriter, r *http.Request, v people.Visitor, before attribute, f attributeFields, preview mutation) {
	here := AttributesPath + "/" + before.ID
	h.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "attribute_review", Title: "Review changes", Problem: problemOfReview(r),
		Head: frame.Head{Title: "Review changes", Lead: "Nothing is saved yet.", Parents: append(parentOf(before), frame.Link{Path: here + "/edit", Name: "Edit attribute"})},
		Data: attributeReview{
			Form: frame.FormTo(v, here+"/edit"), Once: core.NewID(), Reviewed: reviewOf(before, preview),
			Fields: f, Values: strings.Join(f.EnumValues, "\n"), Impact: preview.shown(),
			Rows: attributeChanges(before, f),
		},
	})
}

// attributeChanges returns the fields of an attribute before and after a change.
func attributeChanges(before attribute, f attributeFields) []reviewRow {
	return []reviewRow{
		newReviewRow("Name", before.Name, f.Name), newReviewRow("Type", before.Type, f.Type),
		newReviewRow("Values", strings.Join(before.EnumValues, ", "), strings.Join(f.EnumValues, ", ")),
		newReviewRow("Description", before.Description, f.Description),
	}
}
