package frame

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
)

// FieldOnce is the field of a form that holds the id of what the form creates.
const FieldOnce = "once"

// OnceID returns the id that the form was given when it was shown. A form that is sent
// twice, as by reloading the answer, has the same id both times and creates one thing.
// When OnceID returns false it has answered.
func (p *Pages) OnceID(w http.ResponseWriter, r *http.Request, v people.Visitor) (string, bool) {
	id := r.PostForm.Get(FieldOnce)
	if core.IsID(id) {
		return id, true
	}
	p.Refuse(w, r, v, http.StatusUnprocessableEntity, "Some fields are missing", "Open the form again and fill it in.")
	return "", false
}

// IsRepeated reports whether the error of creating something says that the same form
// created it before.
func IsRepeated(err error) bool { return err != nil && core.AsError(err).Code == core.CodeConflict }

// RefuseRepeated answers a form that was sent before. The secret was shown then and is not
// stored. list is the path of the page that lists what the form creates.
func (p *Pages) RefuseRepeated(w http.ResponseWriter, r *http.Request, v people.Visitor, list string) {
	p.Refuse(w, r, v, http.StatusConflict, "This form was sent before",
		"It created its entry the first time and showed the secret then. If you did not keep the secret, open "+list+" and create a new one there.")
}
