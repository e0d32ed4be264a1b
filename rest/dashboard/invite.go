package dashboard

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// invitePage is what the form of an invitation shows.
type invitePage struct {
	Form     form
	Email    string
	Owner    bool
	MayOwner bool // the visitor is an owner
	Areas    []permissionArea
}

// invitedPage shows the link of an invitation, once.
type invitedPage struct{ Email, Org, Link, Expires, Back string }

func (d *Dashboard) showInvite(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.inviteForm(w, r, v, http.StatusOK, access.NewInvitation{Role: access.PlainMember}, "")
}

func (d *Dashboard) inviteForm(w http.ResponseWriter, r *http.Request, v access.Visitor, status int, n access.NewInvitation, problem string) {
	d.show(w, r, v, status, screen{page: "invite", title: "Invite somebody", problem: problem, data: invitePage{
		Form: formTo(v, membersPath+"/invite"), Email: n.Email, Owner: n.Role == access.Owner,
		MayOwner: v.Member.Role == access.Owner, Areas: permissionChoices(n.Permissions, v.Member),
	}})
}

// invite answers with the link itself: it is kept nowhere that a page could be
// led to.
func (d *Dashboard) invite(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	n := access.NewInvitation{
		OrgID: v.Org.ID, Email: r.PostForm.Get("email"), Role: access.Role(r.PostForm.Get("role")), Permissions: chosenPermissions(r),
	}
	made, secret, err := d.memberships().Invite(r.Context(), access.ActorOf(v.User.ID), n)
	if e := core.AsError(err); err != nil && !e.IsFault() {
		d.inviteForm(w, r, v, e.HTTPStatus(), n, e.Message+" "+e.NextStep())
		return
	}
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	d.show(w, r, v, http.StatusOK, screen{page: "invited", title: "Invitation", data: invitedPage{
		Email: made.Email, Org: v.Org.Name, Link: JoinLink(d.AppURL, secret), Expires: made.ExpiresAt.Format(dateLayout), Back: membersPath,
	}})
}

// JoinLink is the link of an invitation.
func JoinLink(appURL, secret string) string {
	return appURL + JoinPath + "?" + url.Values{"token": {secret}}.Encode()
}

func (d *Dashboard) withdraw(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		d.noSuchPage(w, r, v)
		return
	}
	if err := d.memberships().WithdrawInvitation(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id); err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, membersPath, "withdrawn")
}
