package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// UserCommands is `mailhelm admin user`. A person may belong to several organizations,
// or to none.
type UserCommands struct {
	Create         userCreate         `cmd:"" help:"Create a person."`
	List           userList           `cmd:"" help:"List the people in an organization."`
	AddToOrg       userAddToOrg       `cmd:"" name:"add-to-org" help:"Add a person to an organization."`
	SetRole        userSetRole        `cmd:"" name:"set-role" help:"Change the role of a member."`
	SetPermissions userSetPermissions `cmd:"" name:"set-permissions" help:"Replace the permissions of a member."`
	RemoveFromOrg  userRemoveFromOrg  `cmd:"" name:"remove-from-org" help:"Remove a person from an organization, and revoke the grants that the person gave to clients."`
	SetPassword    userSetPassword    `cmd:"" name:"set-password" help:"Replace the password of a person and end the person's sessions."`
	Disable        userDisable        `cmd:"" help:"Keep a person from signing in, and end all sessions and grants of the person."`
	Enable         userEnable         `cmd:"" help:"Let a disabled person sign in again."`
	Delete         userDelete         `cmd:"" help:"Delete a person with sessions, second factors, devices and memberships."`
	Invite         userInvite         `cmd:"" help:"Create a link with which one person can join an organization."`

	ResetSecondFactor userResetSecondFactor `cmd:"" name:"reset-second-factor" help:"Remove all second factors of a person and end the person's sessions."`
}

// Help returns the text that --help shows below the summary.
func (UserCommands) Help() string {
	return `An owner has all permissions in an organization, a member only the ones that were granted. Without --password-stdin a password is generated and printed once.

Examples:

    mailhelm admin user create ada@example.com --name Ada --org acme --role owner
    mailhelm admin user create ada@example.com --password-stdin < password.txt
    mailhelm admin user add-to-org acme ada@example.com --role member
    mailhelm admin user list acme --json
    mailhelm admin user set-password ada@example.com
    mailhelm admin user reset-second-factor ada@example.com
    mailhelm admin user disable ada@example.com --revoke-keys
    mailhelm admin user delete ada@example.com --dry-run`
}

// userJSON is the form in which --json prints a person. Scripts rely on its members.
type userJSON struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	// OrgID and Role describe the membership that the command created or listed. For a
	// person without such a membership, the JSON omits both members.
	OrgID     string       `json:"org_id,omitempty"`
	Role      members.Role `json:"role,omitempty"`
	CreatedAt time.Time    `json:"created_at"`
	// Password is set only if this command generated it. The database stores only its
	// hash.
	Password string `json:"password,omitempty"`
}

// newUserJSON returns the printed form of a person. m is the membership to print; its zero
// value means none.
func newUserJSON(u access.User, m members.Member) userJSON {
	return userJSON{ID: u.ID, Email: u.Email, Name: u.Name, OrgID: m.OrgID, Role: m.Role, CreatedAt: u.CreatedAt}
}

// printUser prints one person, as JSON with --json and otherwise as a table. It prints a
// generated password too, with a hint to keep it.
func printUser(s *installation.Session, u userJSON) error {
	if s.JSON {
		return s.PrintJSON(u)
	}
	rows := [][]string{{"id", u.ID}, {"email", u.Email}, {"name", u.Name}}
	if u.OrgID != "" {
		rows = append(rows, []string{"org", u.OrgID}, []string{"role", string(u.Role)})
	}
	if u.Password != "" {
		rows = append(rows, []string{"password", u.Password}, []string{"", "Store it now: it is not shown again."})
	}
	return s.PrintTable("", rows)
}

// userCreate is `mailhelm admin user create`. The field As is the role that the person gets
// in the organization Org. If Org is empty, As has no effect.
type userCreate struct {
	installation.Target
	Email         string `arg:"" help:"Address to sign in with."`
	Name          string `help:"Name for people. Default: the address." once:""`
	Org           string `help:"Slug or id of an organization to join." once:""`
	As            string `name:"role" help:"owner or member, in the organization." enum:"owner,member" default:"member" once:""`
	PasswordStdin bool   `help:"Read the password from the first line of standard input." once:""`
}

// Run creates the person and the membership in one transaction. It prints a generated
// password, this one time only. It fails if the address is taken, the organization is
// unknown or the password is not acceptable.
func (c *userCreate) Run(p *cli.Program) error {
	if !core.IsEmail(c.Email) {
		return fmt.Errorf("%q is not an email address", c.Email)
	}
	password, made, err := readPassword(p.Stdin, c.PasswordStdin)
	if err != nil {
		return err
	}
	n := provision.NewUser{Email: c.Email, Name: c.Name, Password: password, Role: members.Role(c.As)}
	if n.Name == "" {
		n.Name = c.Email
	}
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		if c.Org != "" {
			org, err := s.Org(ctx, c.Org)
			if err != nil {
				return err
			}
			n.OrgID = org.ID
		}
		user, err := s.Operator().CreateUser(ctx, n)
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
		return printUser(s, shown)
	})
}

// userList is `mailhelm admin user list`.
type userList struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run lists all members of the organization with their roles.
func (c *userList) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		members, err := s.DB.Members().Members(ctx, org.ID)
		if err != nil {
			return err
		}
		listed := make([]userJSON, 0, len(members))
		for _, m := range members {
			user, err := s.DB.Users().UserByID(ctx, m.UserID)
			if err != nil {
				return err
			}
			listed = append(listed, newUserJSON(user, m))
		}
		return installation.PrintList(s, "users", []string{"EMAIL", "NAME", "ROLE", "ID"}, listed, func(u userJSON) (userJSON, []string) {
			return u, []string{u.Email, u.Name, string(u.Role), u.ID}
		})
	})
}

// userAddToOrg is `mailhelm admin user add-to-org`. It makes an existing person a member of
// an organization; the commands invite and create add a new person.
type userAddToOrg struct {
	installation.Target
	Org   string `arg:"" help:"Slug or id."`
	Email string `arg:"" help:"The person's address."`
	As    string `name:"role" help:"owner or member." enum:"owner,member" default:"member" once:""`
}

// Run adds the person to the organization. A new member has no permissions at first; an
// owner has all. It fails if the person is already a member, so repeating it fails.
func (c *userAddToOrg) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		user, err := s.DB.Users().UserByEmail(ctx, c.Email)
		if installation.NotFound(err) {
			return errors.New("there is no person with this address: create one with 'mailhelm admin user create'")
		}
		if err != nil {
			return err
		}
		member := members.Member{OrgID: org.ID, UserID: user.ID, Role: members.Role(c.As)}
		if err := s.Operator().AddMember(ctx, member.OrgID, member.UserID, member.Role); err != nil {
			return err
		}
		return printUser(s, newUserJSON(user, member))
	})
}
