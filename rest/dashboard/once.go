package dashboard

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// onceOf is the id that the form chose for what it makes when it was shown. A
// form that is sent twice, as reloading the answer does, asks for the same id
// again, and so makes one thing. It has answered when it returns false.
func (d *Dashboard) onceOf(w http.ResponseWriter, r *http.Request, v access.Visitor) (string, bool) {
	id := r.PostForm.Get("once")
	if core.IsID(id) {
		return id, true
	}
	d.refuse(w, r, v, http.StatusUnprocessableEntity, "The form is not whole", "Open it again and fill it in.")
	return "", false
}

// sentBefore reports whether what a form asks for was made the first time.
func sentBefore(err error) bool { return err != nil && core.AsError(err).Code == core.CodeConflict }

// refuseAgain answers a form that was sent before. The secret that it made was
// shown then, and nothing remembers it.
func (d *Dashboard) refuseAgain(w http.ResponseWriter, r *http.Request, v access.Visitor, list string) {
	d.refuse(w, r, v, http.StatusConflict, "This form was sent before",
		"What it asks for was made the first time, and its secret was shown then. If you did not keep the secret, find the entry at "+list+" and make a new one there.")
}
