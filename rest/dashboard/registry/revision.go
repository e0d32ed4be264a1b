package registry

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// revision describes how the pages change one definition.
type revision struct {
	Definition any // the definition as it is, for [reviewOf]
	// Fields are the sent fields. They are the arguments of the operations Preview and Save.
	Fields        any
	Preview, Save string
	Rows          []reviewRow // the fields before and after the change
	Form          func(error) // shows the form with the fields, and the error unless it is nil
	Review        func(mutation)
	Done          string // the page to show after the save
}

// revise handles the steps of a change: it shows the effects, shows the form again, or saves
// the change and redirects. If the effects are not those that the person reviewed, it shows
// the effects and saves nothing.
func (g *Registry) revise(w http.ResponseWriter, r *http.Request, v people.Visitor, c revision) {
	step := r.PostForm.Get(fieldStep)
	if step == stepEdit {
		c.Form(nil)
		return
	}
	var preview mutation
	if err := g.Read(r, v, c.Preview, c.Fields, &preview); err != nil {
		c.Form(err)
		return
	}
	if step == stepSave && !anyChanged(c.Rows) { // the form was sent twice
		frame.RedirectWithNotice(w, c.Done, "saved")
		return
	}
	if step != stepSave || r.PostForm.Get(fieldReviewed) != reviewOf(c.Definition, preview) {
		c.Review(preview)
		return
	}
	once, ok := g.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	if _, err := g.Do(r, v, frame.OperationCall{Operation: c.Save, Arguments: c.Fields, Once: once}, nil); err != nil {
		c.Form(err)
		return
	}
	frame.RedirectWithNotice(w, c.Done, "saved")
}
