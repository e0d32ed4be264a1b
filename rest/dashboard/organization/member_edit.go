package organization

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// memberPage is the data of the page of one member.
type memberPage struct {
	Name, Email string
	Owner, You  bool
	MayRole     bool // the visitor may change the role
	MayRemove   bool
	Areas       []permissionArea
	Roles       frame.RoleChoices
	Permissions frame.Form
	Role        frame.Form
	Remove      frame.Form
}

// permissionArea is the data of a group of permissions on a form.
type permissionArea struct {
	Name    string
	Choices []permissionChoice
}

// permissionChoice is the data of one permission and its checkbox.
type permissionChoice struct {
	Permission members.Permission
	Words      string
	Chosen     bool
	// Locked permissions cannot be selected, because the visitor does not have them.
	Locked bool
}

// permissionChoices returns the permissions in groups and marks the chosen ones. It omits
// permissions that nothing needs yet, unless the member has them (has). It locks a
// permission that neither the member nor the visitor (giver) has. The visitor can take any
// permission away.
func (h memberHandlers) permissionChoices(chosen, has []members.Permission, giver members.Member) []permissionArea {
	var areas []permissionArea
	for _, area := range members.PermissionAreas() {
		shown := permissionArea{Name: area.Name}
		for _, p := range area.Permissions {
			had := slices.Contains(has, p.Permission)
			if !had && !h.IsPermissionBuilt(p.Permission) {
				continue
			}
			marked := slices.Contains(chosen, p.Permission)
			shown.Choices = append(shown.Choices, permissionChoice{
				Permission: p.Permission, Words: p.Words, Chosen: marked, Locked: !marked && !had && !giver.Has(p.Permission),
			})
		}
		if len(shown.Choices) > 0 {
			areas = append(areas, shown)
		}
	}
	return areas
}

// permissionsOf returns the permissions of a role that the visitor (giver) may give, and
// those that the member already has.
func (h memberHandlers) permissionsOf(role members.RoleSet, has []members.Permission, giver members.Member) []members.Permission {
	var given []members.Permission
	for _, p := range role.Permissions {
		if slices.Contains(has, p) || giver.Has(p) && h.IsPermissionBuilt(p) {
			given = append(given, p)
		}
	}
	return given
}

// roleChoices returns the choice of a role for the form at path.
func (h memberHandlers) roleChoices(path string, has []members.Permission, giver members.Member) frame.RoleChoices {
	return frame.RoleChoicesOf(path, "permission", func(role members.RoleSet) []string {
		var names []string
		for _, p := range h.permissionsOf(role, has, giver) {
			names = append(names, string(p))
		}
		return names
	})
}

// chosenPermissions returns the permissions of a submitted form, unchecked.
func chosenPermissions(r *http.Request) []members.Permission {
	var chosen []members.Permission
	for _, name := range r.PostForm["permission"] {
		chosen = append(chosen, members.Permission(name))
	}
	return chosen
}

// showMember shows the page of one member, with the forms that the visitor may send.
func (h memberHandlers) showMember(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	m, err := h.Members.Member(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	user, err := h.Users.UserByID(r.Context(), m.UserID)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("user of a member: %w", err))
		return
	}
	chosen, notice := m.Permissions, membersNotices.NoticeOf(r)
	if role, ok := frame.RoleOf(r); ok {
		chosen, notice = h.permissionsOf(role, m.Permissions, v.Member), "The boxes are those of the role "+role.Title+". Nothing is saved yet."
	}
	here, owner := MembersPath+"/"+id, v.Member.Role == members.Owner
	data := memberPage{
		Name: frame.PlainName(user.Name), Email: user.Email, Owner: m.Role == members.Owner, You: m.UserID == v.User.ID, MayRole: owner,
		MayRemove: m.UserID != v.User.ID && (owner || m.Role != members.Owner), Areas: h.permissionChoices(chosen, m.Permissions, v.Member), Roles: h.roleChoices(here, m.Permissions, v.Member),
		Permissions: frame.FormTo(v, here+"/permissions"), Role: frame.FormTo(v, here+"/role"), Remove: frame.FormTo(v, here+"/remove"),
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "member", Title: frame.PlainName(user.Name), Notice: notice, Data: data})
}

// setPermissions replaces the permissions of a member with those of the form.
func (h memberHandlers) setPermissions(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.changeMember(w, r, v, "permissions", func(id string) error {
		_, err := h.Memberships.SetPermissions(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id, chosenPermissions(r))
		return err
	})
}

// setRole makes a member an owner or a plain member. Only an owner may do this.
func (h memberHandlers) setRole(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.changeMember(w, r, v, "role", func(id string) error {
		role := members.Role(r.PostForm.Get("role"))
		_, err := h.Memberships.SetRole(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id, role)
		return err
	})
}

// removeMember removes a member from the organization.
func (h memberHandlers) removeMember(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.changeMember(w, r, v, "removed", func(id string) error {
		return h.Memberships.RemoveMember(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id)
	})
}

// changeMember calls do with the member's id from the path. If do succeeds, it redirects to
// the list of members, which then shows the notice.
func (h memberHandlers) changeMember(w http.ResponseWriter, r *http.Request, v people.Visitor, notice string, do func(id string) error) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	if err := do(id); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, MembersPath, notice)
}
