package dashboard

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// memberPage is what the page of one member shows.
type memberPage struct {
	Name, Email string
	Owner, You  bool
	MayRole     bool // the visitor is an owner
	MayRemove   bool
	Areas       []permissionArea
	Permissions form
	Role        form
	Remove      form
}

// permissionArea is a group of permissions to choose from.
type permissionArea struct {
	Name    string
	Choices []permissionChoice
}

type permissionChoice struct {
	Permission access.Permission
	Words      string
	Chosen     bool
	// Locked is one that the visitor lacks and so cannot give.
	Locked bool
}

// permissionChoices are all permissions, with those chosen that are in has. What
// the giver lacks can be taken away and not given.
func permissionChoices(has []access.Permission, giver access.Member) []permissionArea {
	var areas []permissionArea
	for _, area := range access.PermissionAreas() {
		shown := permissionArea{Name: area.Name}
		for _, p := range area.Permissions {
			chosen := slices.Contains(has, p.Permission)
			shown.Choices = append(shown.Choices, permissionChoice{
				Permission: p.Permission, Words: p.Words, Chosen: chosen, Locked: !chosen && !giver.Has(p.Permission),
			})
		}
		areas = append(areas, shown)
	}
	return areas
}

// chosenPermissions are those that a form holds.
func chosenPermissions(r *http.Request) []access.Permission {
	var chosen []access.Permission
	for _, name := range r.PostForm["permission"] {
		chosen = append(chosen, access.Permission(name))
	}
	return chosen
}

func (d *Dashboard) showMember(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		d.noSuchPage(w, r, v)
		return
	}
	m, err := d.Members.Member(r.Context(), v.Org.ID, id)
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	user, err := d.Users.UserByID(r.Context(), m.UserID)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("user of a member: %w", err))
		return
	}
	here, owner := membersPath+"/"+id, v.Member.Role == access.Owner
	data := memberPage{
		Name: plainName(user.Name), Email: user.Email, Owner: m.Role == access.Owner, You: m.UserID == v.User.ID, MayRole: owner,
		MayRemove: m.UserID != v.User.ID && (owner || m.Role != access.Owner), Areas: permissionChoices(m.Permissions, v.Member),
		Permissions: formTo(v, here+"/permissions"), Role: formTo(v, here+"/role"), Remove: formTo(v, here+"/remove"),
	}
	d.show(w, r, v, http.StatusOK, screen{page: "member", title: plainName(user.Name), notice: membersNotices.of(r), data: data})
}

func (d *Dashboard) setPermissions(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.changeMember(w, r, v, "permissions", func(id string) error {
		_, err := d.memberships().SetPermissions(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id, chosenPermissions(r))
		return err
	})
}

func (d *Dashboard) setRole(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.changeMember(w, r, v, "role", func(id string) error {
		role := access.Role(r.PostForm.Get("role"))
		_, err := d.memberships().SetRole(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id, role)
		return err
	})
}

func (d *Dashboard) removeMember(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.changeMember(w, r, v, "removed", func(id string) error {
		return d.memberships().RemoveMember(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id)
	})
}

// changeMember does something to the member in the path, and leads to the list.
func (d *Dashboard) changeMember(w http.ResponseWriter, r *http.Request, v access.Visitor, notice string, do func(id string) error) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		d.noSuchPage(w, r, v)
		return
	}
	if err := do(id); err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, membersPath, notice)
}
