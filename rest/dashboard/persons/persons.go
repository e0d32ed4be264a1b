package persons

import (
	"context"
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Path is the path of the page on which a member enters the address of a person. With the query
// parameter contact, the id of a contact, the page has the address already.
const Path = frame.Path + "/personal-data"

// Config configures the pages of this package. All fields are required.
type Config struct {
	Privacy *privacy.Privacy
	// Factors returns the second factors of a user.
	Factors func(ctx context.Context, userID string) (people.Factors, error)
	// Email returns the address of a contact. It fails with core.CodeNotFound for an unknown id.
	Email func(ctx context.Context, orgID, contactID string) (string, error)
}

// Room has the pages; see dashboard.Room.
type Room struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Room, error) {
	own, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Room{cfg, own}, nil
}

// Routes returns the routes of the pages. Addresses are in forms only, never in the path or the
// query, which browsers and proxies keep.
func (h *Room) Routes() []frame.Route {
	manage := members.MayManagePersons
	return []frame.Route{
		{Path: "/personal-data", Needs: manage, Get: h.proven(h.showSearch), Post: h.proven(h.showPerson)},
		{Path: "/personal-data/export", Needs: manage, Post: h.proven(h.exportPerson)},
		{Path: "/personal-data/erase", Needs: manage, Post: h.proven(h.erasePerson)},
		{Path: "/personal-data/allow", Needs: manage, Post: h.proven(h.allowPerson)},
	}
}

// proven returns a handler that calls next for visitors who lately proved a second factor. A
// visitor without one is led to the page that adds one.
func (h *Room) proven(next frame.Handler) frame.Handler {
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		has, err := h.Factors(r.Context(), v.User.ID)
		switch {
		case err != nil:
			h.Fail(w, r, v, err)
		case !has.Any():
			status := http.StatusOK
			if r.Method != http.MethodGet {
				status = http.StatusForbidden
			}
			h.Show(w, r, v, status, frame.Screen{Page: "factor", Title: "Personal data", Data: frame.SecurityPath})
		case h.Site.Identify(w, r, v, h.back(r)):
			next(w, r, v)
		}
	}
}

// back returns the page to which the visitor returns from the proof of a second factor.
func (*Room) back(r *http.Request) string {
	if r.Method != http.MethodGet || r.URL.RawQuery == "" {
		return Path
	}
	return Path + "?" + r.URL.RawQuery
}

// searchPage is the data of the page on which the visitor enters an address.
type searchPage struct {
	Form  frame.Form
	Email string
	Guide *frame.Link
}

// showSearch shows the form with the address.
func (h *Room) showSearch(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	email := ""
	if id := r.URL.Query().Get("contact"); id != "" {
		var err error
		if email, err = h.Email(r.Context(), v.Org.ID, id); err != nil && !core.IsNotFound(err) {
			h.Fail(w, r, v, err)
			return
		}
	}
	h.search(w, r, v, http.StatusOK, email, "")
}

func (h *Room) search(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, email, problem string) {
	h.Show(w, r, v, status, frame.Screen{Page: "search", Title: "Personal data", Problem: problem, Data: searchPage{
		Form: frame.FormTo(v, Path), Email: email, Guide: h.Guide("/guides/persons", "Guide: requests about personal data"),
	}})
}

// email returns the address of the form. If it is not valid, email has written the page that asks
// for it again, and returns false.
func (h *Room) email(w http.ResponseWriter, r *http.Request, v people.Visitor) (string, bool) {
	typed := r.PostForm.Get("email")
	canonical, ok := core.CanonicalEmail(typed)
	if !ok {
		h.search(w, r, v, http.StatusUnprocessableEntity, typed, "This is not an email address. Type one such as ada@example.com.")
		return "", false
	}
	return canonical, true
}
