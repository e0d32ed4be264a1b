package frame

import (
	"embed"
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
)

// Surround returns a function that writes a page of the signed-in person with the sidebar
// around the content. The sign-in pages use it for the pages of a person's own account. It
// fails if a template cannot be read.
func (f *Frame) Surround() (func(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, title string, content template.HTML), error) {
	own, err := f.Pages(embed.FS{})
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, title string, content template.HTML) {
		allowScript(w)
		own.Show(w, r, v, status, Screen{Page: "surrounded", Title: title, OwnHeading: true, Data: content})
	}, nil
}
