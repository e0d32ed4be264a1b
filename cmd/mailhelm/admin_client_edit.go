package main

import (
	"context"

	"github.com/mailhelm/mailhelm/core/access"
)

type clientEdit struct {
	clientTarget
	Name            string   `help:"Name for people; consent pages show it." once:""`
	Scopes          []string `help:"Scope names separated by commas, or all, or read, in place of those there are." once:""`
	RedirectURI     []string `name:"redirect-uri" field:"redirect_uris" sep:"none" help:"Where codes may be sent, in place of what there is. Give it again for more." placeholder:"URL" once:""`
	RefreshLifetime string   `help:"Days from the authorization for which a grant can be refreshed: 30, 90, 365, or never, which has no end. It holds for grants from now on." enum:",never,30,90,365" default:"" once:""`
}

// Run changes the client.
func (c *clientEdit) Run(p *program) error {
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
		changed, err := s.admin.Lifecycle().EditClient(ctx, s.admin.Actor, client)
		return changed, "", err
	})
}

type clientRotate struct{ clientTarget }

// Run changes the secret and prints the new one.
func (c *clientRotate) Run(p *program) error {
	return c.on(p, func(ctx context.Context, s *session, client access.Client) (access.Client, string, error) {
		return s.admin.Lifecycle().RotateClientSecret(ctx, s.admin.Actor, client.OrgID, client.ID)
	})
}
