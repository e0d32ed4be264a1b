package credentials

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core/access"
)

// clientEdit is `mailhelm admin client edit`. An empty field means that its flag was not
// given; the client's value then stays unchanged.
type clientEdit struct {
	clientTarget
	Name            string   `help:"Name for people; consent pages show it." once:""`
	Scopes          []string `help:"The new scopes: names separated by commas, or all, or read." once:""`
	RedirectURI     []string `name:"redirect-uri" field:"redirect_uris" sep:"none" help:"The new redirect URI; may be repeated. Replaces all existing ones." placeholder:"URL" once:""`
	RefreshLifetime string   `help:"Days after the authorization during which a grant can be refreshed: 30, 90, 365, or never for no end. Applies to new grants." enum:",never,30,90,365" default:"" once:""`
}

// Run changes the registration of an OAuth client. New scopes or redirect URIs replace all
// earlier ones. It fails for a revoked client. Without any flag it prints the client
// unchanged.
func (c *clientEdit) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, client access.Client) (access.Client, string, error) {
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
		changed, err := s.Operator().Lifecycle().EditClient(ctx, s.Operator().Actor, client)
		return changed, "", err
	})
}

// clientRotate is `mailhelm admin client rotate-secret`.
type clientRotate struct{ clientTarget }

// Run replaces the client's secret and prints the new one. The old secret stops working at
// once; access tokens and grants stay valid. It fails for a public or revoked client.
func (c *clientRotate) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, client access.Client) (access.Client, string, error) {
		return s.Operator().Lifecycle().RotateClientSecret(ctx, s.Operator().Actor, client.OrgID, client.ID)
	})
}
