package organization

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// invitePage is the data of the page with the form that invites a member.
type invitePage struct {
	Form     frame.Form
	Email    string
	Owner    bool
	MayOwner bool // the visitor may invite owners
	Areas    []permissionArea
	Roles    frame.RoleChoices
}

// invitedPage is the data of the page that shows the link of a new invitation. The page can
// be shown only once.
type invitedPage struct{ Email, Org, Link, Expires, Back string }

// showInvite shows the form that invites a member. The query parameter role ticks the boxes
// of a role.
func (h memberHandlers) showInvite(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	n := members.NewInvitation{Role: members.PlainMember}
	if role, ok := frame.RoleOf(r); ok {
		n.Permissions = h.permissionsOf(role, nil, v.Member)
	}
	h.inviteForm(w, r, v, http.StatusOK, n, "")
}

// inviteForm writes the form that invites a member, with the values of n. problem is the
// error of the submitted form, or "".
func (h memberHandlers) inviteForm(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, n members.NewInvitation, problem string) {
	h.Show(w, r, v, status, frame.Screen{Page: "invite", Title: "Invite a member", Problem: problem, Data: invitePage{
		Form: frame.FormTo(v, MembersPath+"/invite"), Email: n.Email, Owner: n.Role == members.Owner,
		MayOwner: v.Member.Role == members.Owner, Areas: h.permissionChoices(n.Permissions, nil, v.Member),
		Roles: h.roleChoices(MembersPath+"/invite", nil, v.Member),
	}})
}

// invite stores an invitation and shows its link once. It does not redirect, because the
// link is not stored.
func (h memberHandlers) invite(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	n := members.NewInvitation{
		OrgID: v.Org.ID, Email: r.PostForm.Get("email"), Role: members.Role(r.PostForm.Get("role")), Permissions: chosenPermissions(r),
	}
	made, secret, err := h.Memberships.Invite(r.Context(), access.ActorOf(v.User.ID), n)
	if e := core.AsError(err); err != nil && !e.IsFault() {
		h.inviteForm(w, r, v, e.HTTPStatus(), n, e.Message+" "+e.NextStep())
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "invited", Title: "Invitation", Data: invitedPage{
		Email: made.Email, Org: v.Org.Name, Link: JoinLink(h.AppURL, secret), Expires: made.ExpiresAt.Format(frame.DateLayout), Back: MembersPath,
	}})
}

// JoinLink returns the URL at which an invitation with this secret is accepted. With appURL
// "" it returns a path.
func JoinLink(appURL, secret string) string {
	return appURL + JoinPath + "?" + url.Values{"token": {secret}}.Encode()
}

// withdraw deletes an open invitation and redirects to the list of members. The
// invitation's link is invalid from then on.
func (h memberHandlers) withdraw(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	if err := h.Memberships.WithdrawInvitation(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, MembersPath, "withdrawn")
}
