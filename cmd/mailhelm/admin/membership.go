package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// membershipsOf returns the functions that invite, change and remove members. They check the
// permissions of the actor; the operator has all of them. A running server applies a change
// within five seconds.
func membershipsOf(s *installation.Session) members.Memberships {
	return members.Memberships{
		Orgs: s.DB.Orgs(), Members: s.DB.Members(), Invitations: s.DB.Invitations(), Users: s.DB.Users(), Grants: s.DB.Grants(), Audit: s.DB.Audit(),
		Transactor: s.DB, Clock: s.Config.Clock,
	}
}

// memberTarget holds the arguments that select one person in one organization.
type memberTarget struct {
	installation.Target
	Org   string `arg:"" help:"Slug or id."`
	Email string `arg:"" help:"The person's address."`
}

// withMember finds the organization and the person, and calls do. It fails for an unknown
// organization or email address. The function do must check that the person is a member of
// the organization.
func (t memberTarget) withMember(p *cli.Program, do func(context.Context, *installation.Session, core.Org, access.User) error) error {
	return t.WithOrg(p, t.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		user, err := s.DB.Users().UserByEmail(ctx, t.Email)
		if installation.NotFound(err) {
			return fmt.Errorf("there is no person with this address: 'mailhelm admin user list %s' shows them", org.Slug)
		}
		if err != nil {
			return err
		}
		return do(ctx, s, org, user)
	})
}

// memberJSON is the form in which --json prints a member of an organization. Permissions is
// empty for an owner, who has all permissions.
type memberJSON struct {
	UserID      string               `json:"user_id"`
	Email       string               `json:"email"`
	OrgID       string               `json:"org_id"`
	Role        members.Role         `json:"role"`
	Permissions []members.Permission `json:"permissions"`
}

// printMember prints a member, as JSON with --json and otherwise as a table. It takes the
// email address from u, because m has none. For an owner the table shows "all" as
// permissions.
func printMember(s *installation.Session, u access.User, m members.Member) error {
	shown := memberJSON{m.UserID, u.Email, m.OrgID, m.Role, append([]members.Permission{}, m.Permissions...)}
	if s.JSON {
		return s.PrintJSON(shown)
	}
	permissions := "all"
	if m.Role != members.Owner {
		permissions = permissionNames(m.Permissions)
	}
	return s.PrintTable("", [][]string{
		{"id", shown.UserID},
		{"email", shown.Email},
		{"org", shown.OrgID},
		{"role", string(shown.Role)},
		{"permissions", permissions},
	})
}

// permissionNames returns the names of the permissions, separated by blanks. Without
// permissions it returns "".
func permissionNames(permissions []members.Permission) string {
	names := make([]string, len(permissions))
	for i, p := range permissions {
		names[i] = string(p)
	}
	return strings.Join(names, " ")
}

// parsePermissions parses names of permissions, "all", and "none", which adds no
// permission. It ignores white space around names and fails for an unknown name. The result
// may have duplicates; package core/members removes them.
func parsePermissions(names []string) ([]members.Permission, error) {
	var chosen []members.Permission
	for _, name := range names {
		switch name = strings.TrimSpace(name); {
		case name == "all":
			chosen = append(chosen, members.AllPermissions()...)
		case name == "none":
		case slices.Contains(members.AllPermissions(), members.Permission(name)):
			chosen = append(chosen, members.Permission(name))
		default:
			return nil, fmt.Errorf("there is no permission %q: give names such as contacts.view, or all, or none", name)
		}
	}
	return chosen, nil
}

// userSetRole is `mailhelm admin user set-role`, which changes the role of a member.
type userSetRole struct {
	memberTarget
	As string `arg:"" name:"role" help:"owner or member. A former owner starts as a member without permissions." enum:"owner,member"`
}

// Run changes the member's role. An owner who becomes a plain member has no permissions at
// first. It fails for a person who is not a member. It also fails if the organization would
// have no owner left.
func (c *userSetRole) Run(p *cli.Program) error {
	return c.withMember(p, func(ctx context.Context, s *installation.Session, org core.Org, user access.User) error {
		member, err := membershipsOf(s).SetRole(ctx, s.Operator().Actor, org.ID, user.ID, members.Role(c.As))
		if err != nil {
			return err
		}
		return printMember(s, user, member)
	})
}

// userSetPermissions is `mailhelm admin user set-permissions`. It replaces all permissions
// of the member.
type userSetPermissions struct {
	memberTarget
	Permissions []string `arg:"" help:"The new permissions of the member: names, or all, or none."`
}

// Run replaces the member's permissions. It fails for an owner, who has all permissions,
// and for a person who is not a member. It may be repeated.
func (c *userSetPermissions) Run(p *cli.Program) error {
	permissions, err := parsePermissions(c.Permissions)
	if err != nil {
		return err
	}
	return c.withMember(p, func(ctx context.Context, s *installation.Session, org core.Org, user access.User) error {
		member, err := membershipsOf(s).SetPermissions(ctx, s.Operator().Actor, org.ID, user.ID, permissions)
		if err != nil {
			return err
		}
		return printMember(s, user, member)
	})
}

// userRemoveFromOrg is `mailhelm admin user remove-from-org`.
type userRemoveFromOrg struct{ memberTarget }

// Run removes the person from the organization and revokes the grants that the person gave
// to clients there. It does not delete the person. It fails if the organization would have
// no owner left.
func (c *userRemoveFromOrg) Run(p *cli.Program) error {
	return c.withMember(p, func(ctx context.Context, s *installation.Session, org core.Org, user access.User) error {
		if err := membershipsOf(s).RemoveMember(ctx, s.Operator().Actor, org.ID, user.ID); err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(map[string]any{"user_id": user.ID, "org_id": org.ID, "removed": true})
		}
		return s.PrintTable("", [][]string{{"removed", user.Email}, {"from", org.Slug}})
	})
}
