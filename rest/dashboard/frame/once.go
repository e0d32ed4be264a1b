package frame

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// FieldOnce is the form field with the id of the record that the form creates.
const FieldOnce = "once"

// ReadOnceID returns the id in the field [FieldOnce]. A form that is sent twice has the same id
// both times, so it creates one record. When ReadOnceID returns false, it has written the
// response.
func (p *Pages) ReadOnceID(w http.ResponseWriter, r *http.Request, v people.Visitor) (string, bool) {
	id := r.PostForm.Get(FieldOnce)
	if core.IsID(id) {
		return id, true
	}
	p.Refuse(w, r, v, http.StatusUnprocessableEntity, "Some fields are missing", "Open the form again and fill it in.")
	return "", false
}

// IsRepeated reports whether the error of a creation means that the same form created the
// record before.
func IsRepeated(err error) bool { return err != nil && core.AsError(err).Code == core.CodeConflict }

// RefuseRepeated answers a form that was sent before. Its secret was shown then and is not
// stored. list is the path of the page that lists the created records.
func (p *Pages) RefuseRepeated(w http.ResponseWriter, r *http.Request, v people.Visitor, list string) {
	p.Refuse(w, r, v, http.StatusConflict, "This form was sent before",
		"It created its entry and showed the secret the first time. If you do not have the secret, open "+list+" and create a new one there.")
}
