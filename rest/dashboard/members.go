package dashboard

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core/access"
)

const membersPath = Path + "/members"

// membersPages let every member see who else is one; the rest takes members.manage,
// except leaving.
func (d *Dashboard) membersPages() []route {
	manage := access.MayManageMembers
	return []route{
		{path: "/members", get: d.showMembers},
		{path: "/members/leave", post: d.leave},
		{path: "/members/invite", needs: manage, get: d.showInvite, post: d.invite},
		{path: "/members/invitations/{id}/withdraw", needs: manage, post: d.withdraw},
		{path: "/members/{id}", needs: manage, get: d.showMember},
		{path: "/members/{id}/permissions", needs: manage, post: d.setPermissions},
		{path: "/members/{id}/role", needs: manage, post: d.setRole},
		{path: "/members/{id}/remove", needs: manage, post: d.removeMember},
	}
}

// memberships is the tasks on members; what they change is felt by the next
// request to this process.
func (d *Dashboard) memberships() access.Memberships {
	return access.Memberships{
		Orgs: d.Orgs, Members: d.Members, Invitations: d.Invitations, Users: d.Users, Grants: d.Grants, Audit: d.Audit,
		Transactor: d.Transactor, Clock: d.Clock, Principals: d.Principals,
	}
}

var membersNotices = notices{
	"permissions": "The permissions are changed. They count from now on, for tokens too.",
	"role":        "The role is changed.",
	"removed":     "The person does not belong to the organization any more. What they allowed applications to do here has ended.",
	"withdrawn":   "The invitation is withdrawn. Its link does nothing any more.",
}

// membersList is what the page of all members shows.
type membersList struct {
	Org         string
	Members     []memberRow
	Invitations []invitationRow
	MayManage   bool
	InvitePath  string
	Leave       form
	MayLeave    bool // not the last owner
}

type memberRow struct {
	Name, Email string
	Path        string // "" when there is nothing that the visitor could change
	Owner       bool
	Permissions int
	Of          int // how many permissions there are
	You         bool
	Factor      string // whether a second factor is set up, "" when that is not the visitor's to know
}

type invitationRow struct {
	Email    string
	Owner    bool
	Gives    int // permissions
	Expires  string
	Expired  bool
	Withdraw form
}

func (d *Dashboard) showMembers(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	data := membersList{
		Org: v.Org.Name, MayManage: v.Member.Has(access.MayManageMembers),
		InvitePath: membersPath + "/invite", Leave: formTo(v, membersPath+"/leave"),
	}
	members, err := d.Members.Members(r.Context(), v.Org.ID)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("members: %w", err))
		return
	}
	data.MayLeave = v.Member.Role != access.Owner || slices.ContainsFunc(members, func(m access.Member) bool {
		return m.Role == access.Owner && m.UserID != v.User.ID
	})
	if data.Members, err = d.memberRows(r, v, members, data.MayManage); err != nil {
		d.fail(w, r, v, err)
		return
	}
	if data.MayManage {
		if data.Invitations, err = d.invitationRows(r, v); err != nil {
			d.fail(w, r, v, err)
			return
		}
	}
	d.show(w, r, v, http.StatusOK, screen{page: "members", title: "Members", notice: membersNotices.of(r), data: data})
}

func (d *Dashboard) memberRows(r *http.Request, v access.Visitor, members []access.Member, manages bool) ([]memberRow, error) {
	rows := make([]memberRow, 0, len(members))
	for _, m := range members {
		user, err := d.Users.UserByID(r.Context(), m.UserID)
		if err != nil {
			return nil, fmt.Errorf("user of a member: %w", err)
		}
		row := memberRow{
			Name: plainName(user.Name), Email: user.Email, Owner: m.Role == access.Owner, Permissions: len(m.Permissions),
			Of: len(access.AllPermissions()), You: m.UserID == v.User.ID,
		}
		if manages {
			row.Path, row.Factor = membersPath+"/"+m.UserID, "no second factor"
			has, err := d.Factors.Of(r.Context(), m.UserID)
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

func (d *Dashboard) invitationRows(r *http.Request, v access.Visitor) ([]invitationRow, error) {
	invitations, err := d.Invitations.Invitations(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("invitations: %w", err)
	}
	rows, now := make([]invitationRow, len(invitations)), d.Clock()
	for i, one := range invitations {
		rows[i] = invitationRow{
			Email: one.Email, Owner: one.Role == access.Owner, Gives: len(one.Permissions),
			Expires: one.ExpiresAt.Format(dateLayout), Expired: !now.Before(one.ExpiresAt),
			Withdraw: formTo(v, membersPath+"/invitations/"+one.ID+"/withdraw"),
		}
	}
	return rows, nil
}

func (d *Dashboard) leave(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if err := d.memberships().RemoveMember(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, v.User.ID); err != nil {
		d.fail(w, r, v, err)
		return
	}
	seeOther(w, Path)
}
