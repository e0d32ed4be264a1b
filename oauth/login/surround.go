package login

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
)

// Surround writes a page for a signed-in person with the navigation of the dashboard around
// the content.
type Surround func(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, title string, content template.HTML)

// SurroundWith sets the function that writes pages of signed-in people. Call it before the
// first request. Without it these pages have no navigation.
func (s *Site) SurroundWith(surround Surround) { s.surround = surround }

// showSignedIn writes a page for a signed-in person. A person who must still set up or prove
// a second factor sees the page without the navigation, because its links lead back here.
func (a *Admission) showSignedIn(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, page *template.Template, title string, data any) {
	demand, err := a.factors.Demand(r.Context(), v)
	if err != nil || demand != people.NoDemand || a.surround == nil {
		a.Show(w, r, status, page, title, data)
		return
	}
	var content bytes.Buffer
	if err := page.ExecuteTemplate(&content, "content", data); err != nil {
		a.Fail(w, r, fmt.Errorf("make page: %w", err))
		return
	}
	a.surround(w, r, v, status, title, template.HTML(content.String())) //nolint:gosec // written by a template of this package
}
