package registry

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// deletion describes how the pages delete one definition.
type deletion struct {
	ID         string
	Definition any // the definition as it is, for [reviewOf]
	Operation  string
	// Preview reads the effects of the deletion. It reads many rows.
	Preview func(context.Context) (any, error)
	Title   string
	Parents []frame.Link
	Page    deletePage
	// List is the page to show after the deletion, with the notice of this name.
	List, Notice string
}

// deletePage is the data of a page that shows the impact before a definition is deleted.
type deletePage struct {
	Form     frame.Form
	Once     string
	Reviewed string // of [reviewOf]
	Impact   impact
	Text     string // what stays after the deletion
	Button   string
	Back     string
}

// previewDelete returns the effects of a deletion.
func (g *Registry) previewDelete(r *http.Request, v people.Visitor, d deletion) (mutation, error) {
	effects, err := frame.ReadExpensive(g.Frame, r, v, d.Preview)
	if err != nil {
		return mutation{}, err
	}
	return newMutation(effects)
}

// confirmDelete shows the effects of a deletion with the button that deletes.
func (g *Registry) confirmDelete(w http.ResponseWriter, r *http.Request, v people.Visitor, d deletion) {
	preview, err := g.previewDelete(r, v, d)
	if err != nil {
		g.Fail(w, r, v, err)
		return
	}
	g.showDelete(w, r, v, d, preview)
}

func (g *Registry) showDelete(w http.ResponseWriter, r *http.Request, v people.Visitor, d deletion, preview mutation) {
	d.Page.Once, d.Page.Reviewed, d.Page.Impact = core.NewID(), reviewOf(d.Definition, preview), preview.shown()
	g.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "delete", Title: d.Title, Problem: problemOfReview(r), Head: frame.Head{Title: d.Title, Parents: d.Parents}, Data: d.Page,
	})
}

// deleteReviewed deletes a definition and redirects to its list. If the effects are not
// those that the person reviewed, it shows the effects and deletes nothing.
func (g *Registry) deleteReviewed(w http.ResponseWriter, r *http.Request, v people.Visitor, d deletion) {
	once, ok := g.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	preview, err := g.previewDelete(r, v, d)
	if err != nil {
		g.Fail(w, r, v, err)
		return
	}
	if r.PostForm.Get(fieldReviewed) != reviewOf(d.Definition, preview) {
		g.showDelete(w, r, v, d, preview)
		return
	}
	if _, err := g.Do(r, v, frame.OperationCall{Operation: d.Operation, Arguments: map[string]any{"id": d.ID}, Once: once}, nil); err != nil {
		g.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, d.List, d.Notice)
}
