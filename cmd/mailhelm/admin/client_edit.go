package admin

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/access"
)

type clientEdit struct {
	clientTarget
	Name            string   `help:"Name for people; consent pages show it." once:""`
	Scopes          []string `help:"The new scopes: names separated by commas, or all, or read." once:""`
	RedirectURI     []string `name:"redirect-uri" field:"redirect_uris" sep:"none" help:"The new redirect URI; may be repeated. Replaces all existing ones." placeholder:"URL" once:""`
	RefreshLifetime string   `help:"Days after the authorization during which a grant can be refreshed: 30, 90, 365, or never for no end. Applies to new grants." enum:",never,30,90,365" default:"" once:""`
}

// Run changes the client.
func (c *clientEdit) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *session, client access.Client) (access.Client, string, error) {
		if c.Name != "" {
			client.Name = c.Name
		}
		if len(c.RedirectURI) > 0 {
			client.RedirectURIs = c.RedirectURI
		}
		var err error
		if len(c.Scopes) > 0 {
			client.Scopes, err = parseScopes(c.Scopes)
		}
		if err == nil && c.RefreshLifetime != "" {
			client.RefreshDays, err = refreshDays(c.RefreshLifetime)
		}
		if err != nil {
			return access.Client{}, "", err
		}
		changed, err := s.operator.Lifecycle().EditClient(ctx, s.operator.Actor, client)
		return changed, "", err
	})
}

type clientRotate struct{ clientTarget }

// Run changes the secret and prints the new one.
func (c *clientRotate) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *session, client access.Client) (access.Client, string, error) {
		return s.operator.Lifecycle().RotateClientSecret(ctx, s.operator.Actor, client.OrgID, client.ID)
	})
}
