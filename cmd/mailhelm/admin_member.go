package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
)

// memberships is the tasks on members. A running server feels what they change
// within five seconds.
func (s *session) memberships() members.Memberships {
	return members.Memberships{
		Orgs: s.db.Orgs(), Members: s.db.Members(), Invitations: s.db.Invitations(), Users: s.db.Users(), Grants: s.db.Grants(), Audit: s.db.Audit(),
		Transactor: s.db, Clock: s.cfg.Clock,
	}
}

// memberTarget names a person in an organization.
type memberTarget struct {
	adminTarget
	Org   string `arg:"" help:"Slug or id."`
	Email string `arg:"" help:"The person's address."`
}

// withMember finds the two that the target names.
func (t memberTarget) withMember(p *program, do func(context.Context, *session, core.Org, access.User) error) error {
	return t.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, t.Org)
		if err != nil {
			return err
		}
		user, err := s.db.Users().UserByEmail(ctx, t.Email)
		if notFound(err) {
			return fmt.Errorf("there is no person with this address: 'mailhelm admin user list %s' shows them", org.Slug)
		}
		if err != nil {
			return err
		}
		return do(ctx, s, org, user)
	})
}

type memberJSON struct {
	UserID      string               `json:"user_id"`
	Email       string               `json:"email"`
	OrgID       string               `json:"org_id"`
	Role        members.Role         `json:"role"`
	Permissions []members.Permission `json:"permissions"`
}

func (s *session) printMember(u access.User, m members.Member) error {
	shown := memberJSON{m.UserID, u.Email, m.OrgID, m.Role, append([]members.Permission{}, m.Permissions...)}
	if s.json {
		return s.printJSON(shown)
	}
	permissions := "all"
	if m.Role != members.Owner {
		permissions = permissionNames(m.Permissions)
	}
	return s.printTable("", [][]string{
		{"id", shown.UserID},
		{"email", shown.Email},
		{"org", shown.OrgID},
		{"role", string(shown.Role)},
		{"permissions", permissions},
	})
}

func permissionNames(permissions []members.Permission) string {
	names := make([]string, len(permissions))
	for i, p := range permissions {
		names[i] = string(p)
	}
	return strings.Join(names, " ")
}

// parsePermissions reads names, or all, or none.
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

type userSetRole struct {
	memberTarget
	As string `arg:"" name:"role" help:"owner or member. Who was an owner begins as a member without permissions." enum:"owner,member"`
}

// Run changes the role.
func (c *userSetRole) Run(p *program) error {
	return c.withMember(p, func(ctx context.Context, s *session, org core.Org, user access.User) error {
		member, err := s.memberships().SetRole(ctx, s.admin.Actor, org.ID, user.ID, members.Role(c.As))
		if err != nil {
			return err
		}
		return s.printMember(user, member)
	})
}

type userSetPermissions struct {
	memberTarget
	Permissions []string `arg:"" help:"Names of permissions in place of those there are, or all, or none."`
}

// Run changes the permissions.
func (c *userSetPermissions) Run(p *program) error {
	permissions, err := parsePermissions(c.Permissions)
	if err != nil {
		return err
	}
	return c.withMember(p, func(ctx context.Context, s *session, org core.Org, user access.User) error {
		member, err := s.memberships().SetPermissions(ctx, s.admin.Actor, org.ID, user.ID, permissions)
		if err != nil {
			return err
		}
		return s.printMember(user, member)
	})
}

type userRemoveFromOrg struct{ memberTarget }

// Run ends the membership. The account stays.
func (c *userRemoveFromOrg) Run(p *program) error {
	return c.withMember(p, func(ctx context.Context, s *session, org core.Org, user access.User) error {
		if err := s.memberships().RemoveMember(ctx, s.admin.Actor, org.ID, user.ID); err != nil {
			return err
		}
		if s.json {
			return s.printJSON(map[string]any{"user_id": user.ID, "org_id": org.ID, "removed": true})
		}
		return s.printTable("", [][]string{{"removed", user.Email}, {"from", org.Slug}})
	})
}

type userInvite struct {
	adminTarget
	Org         string   `arg:"" help:"Slug or id."`
	Email       string   `arg:"" help:"The address to invite. It need not have an account."`
	As          string   `name:"role" help:"owner or member." enum:"owner,member" default:"member" once:""`
	Permissions []string `help:"Of a member: names separated by commas, or all." placeholder:"NAME" once:""`
	AuthURL     string   `name:"auth-url" help:"Public address of the authorization server, in place of --app-url when both are one." placeholder:"URL" group:"public"`
	AppURL      string   `name:"app-url" help:"Public address of the dashboard, for the link. Default: the auth URL, or this machine." placeholder:"URL" group:"public"`
}

// Run makes the invitation and prints its link.
func (c *userInvite) Run(p *program) error {
	permissions, err := parsePermissions(c.Permissions)
	if err != nil {
		return err
	}
	if c.As == string(members.Owner) && len(permissions) > 0 {
		return errors.New("an owner has every permission: leave --permissions out")
	}
	app := settings.Settings{AuthURL: c.AuthURL, AppURL: c.AppURL}.Host().Complete().App
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		made, secret, err := s.memberships().Invite(ctx, s.admin.Actor, members.NewInvitation{
			OrgID: org.ID, Email: c.Email, Role: members.Role(c.As), Permissions: permissions,
		})
		if err != nil {
			return err
		}
		link := organization.JoinLink(app, secret)
		if s.json {
			return s.printJSON(struct {
				ID          string               `json:"id"`
				Email       string               `json:"email"`
				OrgID       string               `json:"org_id"`
				Role        members.Role         `json:"role"`
				Permissions []members.Permission `json:"permissions"`
				ExpiresAt   time.Time            `json:"expires_at"`
				Link        string               `json:"link"`
			}{made.ID, made.Email, made.OrgID, made.Role, append([]members.Permission{}, made.Permissions...), made.ExpiresAt, link})
		}
		return s.printTable("", [][]string{
			{"id", made.ID},
			{"email", made.Email},
			{"role", string(made.Role)},
			{"until", instant(&made.ExpiresAt)},
			{"link", link},
			{"", "Hand it over now: it is not shown again, and no mail is sent."},
		})
	})
}
