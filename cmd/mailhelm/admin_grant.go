package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

type adminGrant struct {
	List   grantList   `cmd:"" help:"List what people in an organization allowed clients to do."`
	Revoke grantRevoke `cmd:"" help:"End a grant for good, with its tokens."`
}

// Help is shown below the summary.
func (adminGrant) Help() string {
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
	adminTarget
	Org   string `arg:"" help:"Slug or id."`
	Limit int    `help:"How many at most." default:"100" placeholder:"N" once:""`
}

// Run lists the grants.
func (c *grantList) Run(p *program) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		grants, err := s.db.Grants().Grants(ctx, org.ID, "", c.Limit)
		if err != nil {
			return err
		}
		listed, rows := []grantJSON{}, [][]string{{"ID", "CLIENT", "USER", "SCOPES", "CREATED", "EXPIRES"}}
		for _, g := range grants {
			listed = append(listed, newGrantJSON(g))
			rows = append(rows, []string{g.ID, g.ClientID, g.UserID, fmt.Sprint(len(g.Scopes)), instant(&g.CreatedAt), instant(g.ExpiresAt)})
		}
		if s.json {
			return s.printJSON(map[string]any{"grants": listed})
		}
		return s.printTable("", rows)
	})
}

type grantRevoke struct {
	adminTarget
	Org   string `arg:"" help:"Slug or id of the organization."`
	Grant string `arg:"" help:"The grant's id."`
}

// Run revokes the grant.
func (c *grantRevoke) Run(p *program) error {
	return c.with(p, func(ctx context.Context, s *session) error {
		org, err := s.org(ctx, c.Org)
		if err != nil {
			return err
		}
		grant, err := s.admin.Lifecycle().RevokeGrant(ctx, s.admin.Actor, org.ID, c.Grant)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(newGrantJSON(grant))
		}
		return s.printTable("", [][]string{{"id", grant.ID}, {"client", grant.ClientID}, {"revoked", instant(grant.RevokedAt)}})
	})
}
