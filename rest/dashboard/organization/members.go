package organization

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// membersNotices are the messages that the pages of members show after a change, by name.
var membersNotices = frame.Notices{
	"permissions": "The permissions are changed. They apply from the next request on, also to existing tokens.",
	"role":        "The role is changed.",
	"removed":     "The person is no longer a member of the organization. The access that they granted to applications has ended.",
	"withdrawn":   "The invitation is withdrawn. Its link no longer works.",
}

// membersList is the data of the page that lists members and invitations.
type membersList struct {
	Org         string
	Members     []memberRow
	Invitations []invitationRow
	MayManage   bool
	Leave       frame.Form
	MayLeave    bool // false for the last owner
}

// memberRow is the data of a member in the list of members.
type memberRow struct {
	Name, Email string
	Path        string // the path of the member's page; "" if the visitor may not change members
	Owner       bool
	Permissions int
	Of          int // the number of all permissions
	You         bool
	Disabled    bool   // whether the operator keeps the member from signing in
	Factor      string // whether a second factor is set up; "" if the visitor may not see it
}

// invitationRow is the data of an invitation in the list of invitations.
type invitationRow struct {
	Email    string
	Owner    bool
	Gives    int // the number of permissions
	Expires  string
	Expired  bool
	Withdraw frame.Form
}

// showMembers lists the members of the organization. A visitor who may manage members also
// sees the invitations.
func (h memberHandlers) showMembers(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data := membersList{
		Org: v.Org.Name, MayManage: v.Member.Has(members.MayManageMembers), Leave: frame.FormTo(v, MembersPath+"/leave"),
	}
	all, err := h.Members.Members(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("members: %w", err))
		return
	}
	data.MayLeave = v.Member.Role != members.Owner || slices.ContainsFunc(all, func(m members.Member) bool {
		return m.Role == members.Owner && m.UserID != v.User.ID
	})
	if data.Members, err = h.memberRows(r, v, all, data.MayManage); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if data.MayManage {
		if data.Invitations, err = h.invitationRows(r, v); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	head := frame.Head{Count: strconv.Itoa(len(data.Members))}
	if data.MayManage {
		head.Actions = []frame.Action{{Path: MembersPath + "/invite", Name: "Invite member", Primary: true}}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "members", Title: "Members", Head: head, Notice: membersNotices.NoticeOf(r), Data: data})
}

// memberRows returns the data of the members for the list. If manages is true, it adds for
// each member the link to the member's page, and whether the member has a second factor.
func (h memberHandlers) memberRows(r *http.Request, v people.Visitor, all []members.Member, manages bool) ([]memberRow, error) {
	rows := make([]memberRow, 0, len(all))
	for _, m := range all {
		user, err := h.Users.UserByID(r.Context(), m.UserID)
		if core.IsNotFound(err) {
			continue // the person was deleted after the list was read
		}
		if err != nil {
			return nil, fmt.Errorf("user of a member: %w", err)
		}
		row := memberRow{
			Name: frame.PlainName(user.Name), Email: user.Email, Owner: m.Role == members.Owner, Permissions: len(m.Permissions),
			Of: len(members.AllPermissions()), You: m.UserID == v.User.ID,
			Disabled: user.DisabledAt != nil,
		}
		if manages {
			row.Path, row.Factor = MembersPath+"/"+m.UserID, "no second factor"
			has, err := h.Factors.FactorsOf(r.Context(), m.UserID)
			if err != nil {
				return nil, fmt.Errorf("second factor of a member: %w", err)
			}
			if has.Any() {
				row.Factor = "second factor set up"
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// invitationRows returns the data of the open and expired invitations for the list.
func (h memberHandlers) invitationRows(r *http.Request, v people.Visitor) ([]invitationRow, error) {
	invitations, err := h.Invitations.Invitations(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("invitations: %w", err)
	}
	rows, now := make([]invitationRow, len(invitations)), h.Clock()
	for i, one := range invitations {
		rows[i] = invitationRow{
			Email: one.Email, Owner: one.Role == members.Owner, Gives: len(one.Permissions),
			Expires: one.ExpiresAt.Format(frame.DateLayout), Expired: !now.Before(one.ExpiresAt),
			Withdraw: frame.FormTo(v, MembersPath+"/invitations/"+one.ID+"/withdraw"),
		}
	}
	return rows, nil
}

// leave ends the visitor's own membership and redirects to the dashboard.
func (h memberHandlers) leave(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if err := h.Memberships.RemoveMember(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, v.User.ID); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.SeeOther(w, frame.Path)
}
