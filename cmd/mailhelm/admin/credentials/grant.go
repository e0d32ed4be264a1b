package credentials

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// GrantCommands is `mailhelm admin grant`. A grant is a person's consent to an OAuth
// client. Only people create grants; an operator lists and revokes them.
type GrantCommands struct {
	List   grantList   `cmd:"" help:"List the grants of the people in an organization."`
	Revoke grantRevoke `cmd:"" help:"Revoke a grant permanently, with its tokens."`
}

// Help returns the text that --help shows below the summary.
func (GrantCommands) Help() string {
	return `Examples:

    mailhelm admin grant list acme
    mailhelm admin grant revoke acme 01890a5d-ac96-774b-bcce-b302099a8057`
}

// grantJSON is the form in which --json prints a grant. Scripts rely on its members.
type grantJSON struct {
	ID     string `json:"id"`
	OrgID  string `json:"org_id"`
	UserID string `json:"user_id"`
	// ClientID is the public client id: oc_... or the URL of a metadata document.
	ClientID  string    `json:"client_id"`
	Scopes    []string  `json:"scopes"`
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is the time after which the grant can no longer be refreshed. It is null if
	// there is no such limit.
	ExpiresAt *time.Time `json:"expires_at"`
	RevokedAt *time.Time `json:"revoked_at"`
}

// newGrantJSON returns the printed form of a grant. It contains no token.
func newGrantJSON(g access.Grant) grantJSON {
	return grantJSON{g.ID, g.OrgID, g.UserID, g.ClientID, g.Scopes.Strings(), g.CreatedAt, g.ExpiresAt, g.RevokedAt}
}

// grantList is `mailhelm admin grant list`.
type grantList struct {
	installation.Target
	Org   string `arg:"" help:"Slug or id."`
	Limit int    `help:"Maximum number of rows." default:"100" placeholder:"N" once:""`
}

// Run lists the organization's grants that are not revoked, newest first, at most --limit
// of them.
func (c *grantList) Run(p *cli.Program) error {
	if err := installation.CheckLimit(c.Limit); err != nil {
		return err
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		grants, err := s.DB.Grants().Grants(ctx, org.ID, access.GrantFilter{Limit: c.Limit})
		if err != nil {
			return err
		}
		return installation.PrintList(s, "grants", []string{"ID", "CLIENT", "USER", "SCOPES", "CREATED", "EXPIRES"}, grants, func(g access.Grant) (grantJSON, []string) {
			return newGrantJSON(g), []string{g.ID, g.ClientID, g.UserID, fmt.Sprint(len(g.Scopes)), installation.Instant(&g.CreatedAt), installation.Instant(g.ExpiresAt)}
		})
	})
}

// grantRevoke is `mailhelm admin grant revoke`. Revocation cannot be undone.
type grantRevoke struct {
	installation.Target
	Org   string `arg:"" help:"Slug or id of the organization."`
	Grant string `arg:"" help:"The grant's id."`
}

// Run revokes the grant; its access tokens and refresh tokens stop working too. It fails
// for an unknown grant. It may be repeated.
func (c *grantRevoke) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		grant, err := s.Operator().Lifecycle().RevokeGrant(ctx, s.Operator().Actor, org.ID, c.Grant)
		if err != nil {
			return err
		}
		if s.JSON {
			return s.PrintJSON(newGrantJSON(grant))
		}
		return s.PrintTable("", [][]string{{"id", grant.ID}, {"client", grant.ClientID}, {"revoked", installation.Instant(grant.RevokedAt)}})
	})
}
