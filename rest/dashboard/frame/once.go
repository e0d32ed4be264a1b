package frame

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// FieldOnce is the name of the form field with the id that the created record gets.
const FieldOnce = "once"

// ReadOnceID returns the id in the form field [FieldOnce]. A form that is sent twice has
// the same id both times, so it creates one record. If ReadOnceID returns false, it has
// written a refusal.
func (p *Pages) ReadOnceID(w http.ResponseWriter, r *http.Request, v people.Visitor) (string, bool) {
	id := r.PostForm.Get(FieldOnce)
	if core.IsID(id) {
		return id, true
	}
	p.Refuse(w, r, v, http.StatusUnprocessableEntity, "Some fields are missing", "Open the form again and fill it in.")
	return "", false
}

// IsRepeated reports whether creating a record failed because the same form had already
// created it.
func IsRepeated(err error) bool { return err != nil && core.AsError(err).Code == core.CodeConflict }

// RefuseRepeated refuses a form that was sent before. It cannot repeat the first answer,
// because that answer may have shown a secret, which is not stored. list is the path of the
// page that lists the created records. hasSecret is true if the created record has a secret.
func (p *Pages) RefuseRepeated(w http.ResponseWriter, r *http.Request, v people.Visitor, list string, hasSecret bool) {
	text := "It created its entry the first time. Open " + list + " to see the entry."
	if hasSecret {
		text = "It created its entry and showed the secret the first time. If you do not have the secret, open " + list + " and create a new one there."
	}
	p.Refuse(w, r, v, http.StatusConflict, "This form was sent before", text)
}
