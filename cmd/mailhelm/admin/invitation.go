package admin

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
)

// userInvite is `mailhelm admin user invite`. It invites a person to an organization and
// prints the link. Without AuthURL and AppURL the link has the public address of the server
// that started last with the data folder.
type userInvite struct {
	installation.Target
	Org         string   `arg:"" help:"Slug or id."`
	Email       string   `arg:"" help:"The address to invite. It may belong to a new person."`
	As          string   `name:"role" help:"owner or member." enum:"owner,member" default:"member" once:""`
	Permissions []string `help:"Permissions of a member: names separated by commas, or all." placeholder:"NAME" once:""`
	AuthURL     string   `name:"auth-url" help:"Public address of the authorization server; also the dashboard's unless --app-url is set. Default: that of the server that started last with --data." placeholder:"URL" group:"public"`
	AppURL      string   `name:"app-url" help:"Public address of the dashboard, for the link. Default: the auth URL, else that of the server that started last with --data, else http://localhost:8081." placeholder:"URL" group:"public"`
}

// Run creates the invitation and prints its link, which works for seven days. It sends no
// mail: the operator passes the link on. A new invitation for the same address voids the
// earlier one. It fails if --permissions is given for an owner, and if the invited person
// is already a member.
func (c *userInvite) Run(p *cli.Program) error {
	permissions, err := parsePermissions(c.Permissions)
	if err != nil {
		return err
	}
	if c.As == string(members.Owner) && len(permissions) > 0 {
		return errors.New("an owner has every permission: leave --permissions out")
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		made, secret, err := membershipsOf(s).Invite(ctx, s.Operator().Actor, members.NewInvitation{
			OrgID: org.ID, Email: c.Email, Role: members.Role(c.As), Permissions: permissions,
		})
		if err != nil {
			return err
		}
		link := organization.JoinLink(c.app(s.Published(ctx)), secret)
		if s.JSON {
			return s.PrintJSON(struct {
				ID          string               `json:"id"`
				Email       string               `json:"email"`
				OrgID       string               `json:"org_id"`
				Role        members.Role         `json:"role"`
				Permissions []members.Permission `json:"permissions"`
				ExpiresAt   time.Time            `json:"expires_at"`
				Link        string               `json:"link"`
			}{made.ID, made.Email, made.OrgID, made.Role, append([]members.Permission{}, made.Permissions...), made.ExpiresAt, link})
		}
		return s.PrintTable("", [][]string{
			{"id", made.ID},
			{"email", made.Email},
			{"role", string(made.Role)},
			{"until", installation.Instant(&made.ExpiresAt)},
			{"link", link},
			{"", "Send it to the person now: it is not shown again, and Mailhelm does not mail it."},
		})
	})
}

// app returns the public address of the dashboard. published has the addresses of the server
// that started last.
func (c *userInvite) app(published config.Public) string {
	byDefault := config.Settings{}.Server().Complete().App
	return cmp.Or(c.AppURL, c.AuthURL, published.App, byDefault)
}
