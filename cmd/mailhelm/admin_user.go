package main

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/admin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

type adminUser struct {
	Create         userCreate         `cmd:"" help:"Create a person who can sign in."`
	List           userList           `cmd:"" help:"List the people in an organization."`
	AddToOrg       userAddToOrg       `cmd:"" name:"add-to-org" help:"Make a person a member of an organization."`
	SetRole        userSetRole        `cmd:"" name:"set-role" help:"Make a member an owner, or an owner a member."`
	SetPermissions userSetPermissions `cmd:"" name:"set-permissions" help:"Say what a member may do."`
	RemoveFromOrg  userRemoveFromOrg  `cmd:"" name:"remove-from-org" help:"End a membership, with what the person allowed applications to do."`
	SetPassword    userSetPassword    `cmd:"" name:"set-password" help:"Set another password for a person who forgot it, and end the person's sessions."`
	Invite         userInvite         `cmd:"" help:"Make a link with which somebody joins an organization, once."`

	ResetSecondFactor userResetSecondFactor `cmd:"" name:"reset-second-factor" help:"Take all second factors from a person who lost them, and end the person's sessions."`
}

// Help is shown below the summary.
func (adminUser) Help() string {
	return `An owner may do everything in an organization, a member what was given. Without --password-stdin a password is made and printed once.

Examples:

    mailhelm admin user create ada@example.com --name Ada --org acme --role owner
    mailhelm admin user create ada@example.com --password-stdin < password.txt
    mailhelm admin user add-to-org acme ada@example.com --role member
    mailhelm admin user list acme --json
    mailhelm admin user set-password ada@example.com
    mailhelm admin user reset-second-factor ada@example.com`
}

type userJSON struct {
	ID        string       `json:"id"`
	Email     string       `json:"email"`
	Name      string       `json:"name"`
	OrgID     string       `json:"org_id,omitempty"`
	Role      members.Role `json:"role,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
	Password  string       `json:"password,omitempty"`
}

func newUserJSON(u access.User, m members.Member) userJSON {
	return userJSON{ID: u.ID, Email: u.Email, Name: u.Name, OrgID: m.OrgID, Role: m.Role, CreatedAt: u.CreatedAt}
}

func (s *session) printUser(u userJSON) error {
	if s.json {
		return s.printJSON(u)
	}
	rows := [][]string{{"id", u.ID}, {"email", u.Email}, {"name", u.Name}}
	if u.OrgID != "" {
		rows = append(rows, []string{"org", u.OrgID}, []string{"role", string(u.Role)})
	}
	if u.Password != "" {
		rows = append(rows, []string{"password", u.Password}, []string{"", "Keep it now: it is not shown again."})
	}
	return s.printTable("", rows)
}

type userCreate struct {
	adminTarget
	Email         string `arg:"" help:"Address to sign in with."`
	Name          string `help:"Name for people. Default: the address." once:""`
	Org           string `help:"Slug or id of an organization to be in." once:""`
	As            string `name:"role" help:"owner or member, in the organization." enum:"owner,member" default:"member" once:""`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." once:""`
}

// Run creates the person.
func (c *userCreate) Run(p *program) error {
	if !core.IsEmail(c.Email) {
		return errors.New("that is no email address")
	}
	password, made, err := readPassword(p.stdin, c.PasswordStdin)
	if err != nil {
		return err
	}
	n := admin.NewUser{Email: c.Email, Name: c.Name, Password: password, Role: members.Role(c.As)}
	if n.Name == "" {
		n.Name = c.Email
	}
	return c.with(p, func(ctx context.Context, s *session) error {
		if c.Org != "" {
			org, err := s.org(ctx, c.Org)
			if err != nil {
				return err
			}
			n.OrgID = org.ID
		}
		user, err := s.admin.CreateUser(ctx, n)
		if err != nil {
			return err
		}
		member := members.Member{}
		if n.OrgID != "" {
			member = members.Member{OrgID: n.OrgID, Role: n.Role}
		}
		shown := newUserJSON(user, member)
		if made {
			shown.Password = password
		}
		return s.printUser(shown)
	})
}

type userList struct {
	adminTarget
	Org string `arg:"" help:"Slug or id."`
}

// Run lists the people.
func (c *userList) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		members, err := s.db.Members().Members(ctx, org.ID)
		if err != nil {
			return err
		}
		listed, rows := []userJSON{}, [][]string{{"EMAIL", "NAME", "ROLE", "ID"}}
		for _, m := range members {
			user, err := s.db.Users().UserByID(ctx, m.UserID)
			if err != nil {
				return err
			}
			listed = append(listed, newUserJSON(user, m))
			rows = append(rows, []string{user.Email, user.Name, string(m.Role), user.ID})
		}
		if s.json {
			return s.printJSON(map[string]any{"users": listed})
		}
		return s.printTable("", rows)
	})
}

type userAddToOrg struct {
	adminTarget
	Org   string `arg:"" help:"Slug or id."`
	Email string `arg:"" help:"The person's address."`
	As    string `name:"role" help:"owner or member." enum:"owner,member" default:"member" once:""`
}

// Run makes the person a member.
func (c *userAddToOrg) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		user, err := s.db.Users().UserByEmail(ctx, c.Email)
		if notFound(err) {
			return errors.New("there is no person with this address: 'mailhelm admin user create' makes one")
		}
		if err != nil {
			return err
		}
		member := members.Member{OrgID: org.ID, UserID: user.ID, Role: members.Role(c.As)}
		if err := s.admin.AddMember(ctx, member.OrgID, member.UserID, member.Role); err != nil {
			return err
		}
		return s.printUser(newUserJSON(user, member))
	})
}
