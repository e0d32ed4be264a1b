package persons

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// erasedPage is the data of the page after an erasure. It does not have the address, which is
// stored nowhere any more.
type erasedPage struct {
	Places  places
	Refuses string
	Back    string
}

// erasePerson erases the person whose address the visitor typed a second time. It may be
// repeated, also after a failure.
func (h *Room) erasePerson(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	email, ok := h.email(w, r, v)
	if !ok {
		return
	}
	if core.EmailKey(strings.TrimSpace(r.PostForm.Get("typed"))) != core.EmailKey(email) {
		h.person(w, r, v, email, core.Conflict("The typed address is not the address of this person.", "Nothing was erased. Type "+email+"."))
		return
	}
	// An erasure begins at the sending account, before its transaction. So the permission is also
	// checked before.
	report, err := privacy.Report{}, h.in(v).Transactor.InTx(r.Context(), func(context.Context) error { return nil })
	if err == nil {
		report, err = h.in(v).Erase(r.Context(), actorOf(v), v.Org.ID, email)
	}
	if err != nil {
		h.person(w, r, v, email, err)
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "erased", Title: "The person was erased",
		Data: erasedPage{Places: places{placesOf(report), "What was done", false}, Refuses: refusals[report.Refuses], Back: Path},
	})
}

// allowPerson lets an erased address get mail again, and shows the page about it.
func (h *Room) allowPerson(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if email, ok := h.email(w, r, v); ok {
		h.person(w, r, v, email, h.in(v).Allow(r.Context(), actorOf(v), v.Org.ID, email))
	}
}

// in returns a Privacy whose transactions check first that the visitor still has the permission.
func (h *Room) in(v people.Visitor) *privacy.Privacy {
	return h.Privacy.With(h.TransactorWith(v, members.MayManagePersons))
}

func actorOf(v people.Visitor) access.Actor { return access.ActorOf(v.User.ID) }

// writeJSON writes an export for programs.
func writeJSON(w io.Writer, e privacy.Export) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(e)
}
