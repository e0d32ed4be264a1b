package senders

import (
	"embed"
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the list. The page of one claim is below it.
const Path = frame.Path + "/verified-senders"

// Room has the pages about verified senders; see dashboard.Room.
type Room struct{ *frame.Pages }

// New returns the pages of this package. It fails if their templates cannot be read.
func New(f *frame.Frame) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{own}, nil
}

// Routes returns the routes of the pages. The operations check the permission to change.
func (h *Room) Routes() []frame.Route {
	change := []members.Permission{members.MayManageInbound}
	return []frame.Route{
		{Path: "/verified-senders", Needs: members.MayViewInbound, AlsoNeeds: change, Get: h.showList, Post: h.startOne},
		{Path: "/verified-senders/{id}", Needs: members.MayViewInbound, AlsoNeeds: change, Get: h.showOne, Post: h.confirmOne},
		{Path: "/verified-senders/{id}/remove", Needs: members.MayManageInbound, Post: h.removeOne},
	}
}

// claim is the result of the operations, as far as the pages show it.
type claim struct {
	ID, Email, Status string
	CodeExpiresAt     *time.Time `json:"code_expires_at"`
	VerifiedAt        *time.Time `json:"verified_at"`
	CreatedAt         time.Time  `json:"created_at"`
}

// state describes the state of the claim at a time. open is true if a code can be entered.
func (c claim) state(now time.Time) (text string, open bool) {
	switch {
	case c.Status == "verified":
		return "Verified", false
	case c.Status == "locked":
		return "Locked", false
	case c.CodeExpiresAt == nil || !now.Before(*c.CodeExpiresAt):
		return "Code expired", false
	}
	return "Code mailed", true
}

// marks are the classes of the marks of states.
var marks = map[string]string{"Verified": "good", "Code mailed": "live", "Locked": "ended", "Code expired": "test"}

// row is the data of one claim in the list.
type row struct {
	Path              string
	Email             frame.Wrapped
	State, Mark       string
	Expires, Verified frame.When
}

// listPage is the data of the list. MayChange is true if the visitor may verify addresses.
type listPage struct {
	Form      frame.Form
	Once      string
	Email     string // of the refused form
	MayChange bool
	Rows      []row
	Pager     frame.Pager
}

// labels has the words that name the fields in the error text of a refused form.
var labels = frame.Labels{"email": "The address", "code": "The code"}

// notices are the messages after a change.
var notices = frame.Notices{
	"mailed": "The code is mailed. It works for 15 minutes.", "verified": "The address is verified.", "removed": "The address is removed. To undo it, verify the address again.",
}

// showList lists the visitor's claims.
func (h *Room) showList(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.list(w, r, v, "", nil)
}

// problemOf returns the text and the status with which a form is shown again. It returns "" for
// nil, and for errors that the frame shows.
func problemOf(err error) (problem string, status int) {
	if err != nil && core.AsError(err).Code == core.CodeRateLimited {
		return core.AsError(err).Message + " Try again later.", http.StatusTooManyRequests
	}
	return labels.Correctable(err)
}

// list writes the list. email is the address of a form that was refused.
func (h *Room) list(w http.ResponseWriter, r *http.Request, v people.Visitor, email string, refused error) {
	problem, status := problemOf(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	var found core.Envelope[claim]
	asked := map[string]any{"limit": frame.PageSize}
	if cursor := r.URL.Query().Get(frame.ParamCursor); cursor != "" {
		asked["cursor"] = cursor
	}
	if err := h.Read(r, v, "verified_senders_list", asked, &found); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{
		Form: frame.FormTo(v, Path), Once: core.NewID(), Email: email, MayChange: v.Member.Has(members.MayManageInbound),
		Pager: frame.PagerOf(Path, r.URL.Query(), len(found.Data), found.Next(), -1),
	}
	for _, c := range found.Data {
		shown := row{Path: Path + "/" + c.ID, Email: frame.Wrapped(frame.PlainName(c.Email)), Verified: h.whenOf(c.VerifiedAt), Expires: h.whenOf(c.CodeExpiresAt)}
		shown.State, _ = c.state(h.Clock())
		shown.Mark = marks[shown.State]
		data.Rows = append(data.Rows, shown)
	}
	const title = "Verified senders"
	h.Show(w, r, v, status, frame.Screen{Page: "senders", Title: title, Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Title: title, Lead: "Mailboxes that you have proven to be yours. Temporary inboxes that receive only from them do not count against the quota of new inboxes.",
	}})
}

// whenOf returns a time for a page, the zero value for none.
func (h *Room) whenOf(t *time.Time) frame.When {
	if t == nil {
		return frame.When{}
	}
	return h.When(*t)
}

// startOne mails a code to the address of the form, and redirects to the page of its claim.
func (h *Room) startOne(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	email := strings.TrimSpace(r.PostForm.Get("email"))
	var c claim
	_, err := h.Do(r, v, frame.OperationCall{Operation: "verified_senders_create", Arguments: map[string]string{"email": email}, Once: once}, &c)
	if err != nil {
		h.list(w, r, v, email, err)
		return
	}
	notice := "mailed"
	if c.VerifiedAt != nil {
		notice = "verified"
	}
	frame.RedirectWithNotice(w, Path+"/"+c.ID, notice)
}

// onePage is the data of the page of one claim. Open is true if a code can be entered.
type onePage struct {
	Code, Again, Remove frame.Form
	Once, Email, State  string
	Open, Verified      bool
	Locked, MayChange   bool
	When                frame.When // of the verification, or of the end of the code
	Back                string
}

// find returns the visitor's claim that the path names. If it returns false, it has written an
// answer.
func (h *Room) find(w http.ResponseWriter, r *http.Request, v people.Visitor) (claim, bool) {
	asked := map[string]any{"limit": frame.PageSize}
	for {
		var found core.Envelope[claim]
		if err := h.Read(r, v, "verified_senders_list", asked, &found); err != nil {
			h.Fail(w, r, v, err)
			return claim{}, false
		}
		for _, c := range found.Data {
			if c.ID == r.PathValue("id") {
				return c, true
			}
		}
		if asked["cursor"] = found.Next(); found.Next() == "" {
			h.NoSuchPage(w, r, v)
			return claim{}, false
		}
	}
}

// showOne shows the page of a claim.
func (h *Room) showOne(w http.ResponseWriter, r *http.Request, v people.Visitor) { h.one(w, r, v, nil) }

// one writes the page of a claim. refused is the error of the sent form, or nil.
func (h *Room) one(w http.ResponseWriter, r *http.Request, v people.Visitor, refused error) {
	problem, status := problemOf(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	c, ok := h.find(w, r, v)
	if !ok {
		return
	}
	path := Path + "/" + c.ID
	data := onePage{
		Code: frame.FormTo(v, path), Again: frame.FormTo(v, Path), Remove: frame.FormTo(v, path+"/remove"), Once: core.NewID(), Email: c.Email,
		Verified: c.VerifiedAt != nil, Locked: c.Status == "locked", MayChange: v.Member.Has(members.MayManageInbound), Back: Path, When: h.whenOf(c.CodeExpiresAt),
	}
	data.State, data.Open = c.state(h.Clock())
	if c.VerifiedAt != nil {
		data.When = h.When(*c.VerifiedAt)
	}
	title := frame.PlainName(c.Email)
	h.Show(w, r, v, status, frame.Screen{Page: "sender", Title: title, Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{Title: title}})
}

// codeDigits is the length of a code.
const codeDigits = 6

// confirmOne verifies an address with the code of the form.
func (h *Room) confirmOne(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	code := strings.Join(strings.Fields(r.PostForm.Get("code")), "")
	if len(code) != codeDigits || strings.Trim(code, "0123456789") != "" {
		h.one(w, r, v, core.Invalid("code", "has six digits"))
		return
	}
	arguments := map[string]string{"id": r.PathValue("id"), "code": code}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "verified_senders_confirm", Arguments: arguments}, nil); err != nil {
		h.one(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path+"/"+r.PathValue("id"), "verified")
}

// removeOne removes a claim.
func (h *Room) removeOne(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	_, err := h.Do(r, v, frame.OperationCall{Operation: "verified_senders_delete", Arguments: map[string]string{"id": r.PathValue("id")}}, nil)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "removed")
}
