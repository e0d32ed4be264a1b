package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

type grantCommands struct {
	List   grantList   `cmd:"" help:"List the grants of the people in an organization."`
	Revoke grantRevoke `cmd:"" help:"Revoke a grant permanently, with its tokens."`
}

// Help returns the text that --help shows below the summary.
func (grantCommands) Help() string {
	return `Examples:

    mailhelm admin grant list acme
    mailhelm admin grant revoke acme 01890a5d-ac96-774b-bcce-b302099a8057`
}

type grantJSON struct {
	ID        string     `json:"id"`
	OrgID     string     `json:"org_id"`
	UserID    string     `json:"user_id"`
	ClientID  string     `json:"client_id"`
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at"`
}

func newGrantJSON(g access.Grant) grantJSON {
	return grantJSON{g.ID, g.OrgID, g.UserID, g.ClientID, g.Scopes.Strings(), g.CreatedAt, g.ExpiresAt, g.RevokedAt}
}

type grantList struct {
	target
	Org   string `arg:"" help:"Slug or id."`
	Limit int    `help:"Maximum number of rows." default:"100" placeholder:"N" once:""`
}

// Run lists the grants.
func (c *grantList) Run(p *cli.Program) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.withOrg(p, c.Org, func(ctx context.Context, s *session, org core.Org) error {
		grants, err := s.DB.Grants().Grants(ctx, org.ID, "", c.Limit)
		if err != nil {
			return err
		}
		return printList(s, "grants", []string{"ID", "CLIENT", "USER", "SCOPES", "CREATED", "EXPIRES"}, grants, func(g access.Grant) (grantJSON, []string) {
			return newGrantJSON(g), []string{g.ID, g.ClientID, g.UserID, fmt.Sprint(len(g.Scopes)), instant(&g.CreatedAt), instant(g.ExpiresAt)}
		})
	})
}

type grantRevoke struct {
	target
	Org   string `arg:"" help:"Slug or id of the organization."`
	Grant string `arg:"" help:"The grant's id."`
}

// Run revokes the grant.
func (c *grantRevoke) Run(p *cli.Program) error {
	return c.withOrg(p, c.Org, func(ctx context.Context, s *session, org core.Org) error {
		grant, err := s.operator.Lifecycle().RevokeGrant(ctx, s.operator.Actor, org.ID, c.Grant)
		if err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(newGrantJSON(grant))
		}
		return s.PrintTable("", [][]string{{"id", grant.ID}, {"client", grant.ClientID}, {"revoked", instant(grant.RevokedAt)}})
	})
}
