package credentials

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// ClientCommands is `mailhelm admin client`, the commands about OAuth clients. A running
// server applies each change within five seconds, on PostgreSQL within one second.
type ClientCommands struct {
	Create  clientCreate  `cmd:"" help:"Register an OAuth client and print its secret once."`
	List    clientList    `cmd:"" help:"List an organization's OAuth clients."`
	Revoke  clientRevoke  `cmd:"" help:"Revoke a client permanently and at once, with its tokens and grants."`
	Edit    clientEdit    `cmd:"" help:"Change the registration of a client. Values without a flag stay."`
	Rotate  clientRotate  `cmd:"" name:"rotate-secret" help:"Replace the secret of a client and print the new one once. The old one stops working at once."`
	Block   clientBlock   `cmd:"" help:"Block a client that belongs to no organization, and revoke the grants that people gave it."`
	Unblock clientUnblock `cmd:"" help:"Unblock a client. People must authorize it again."`
	Blocked clientBlocked `cmd:"" help:"List the clients that an organization blocks."`
}

// Help returns the text that --help shows below the summary.
func (ClientCommands) Help() string {
	return `A confidential client has a secret. A public client (--public) runs on people's own machines and needs a redirect URI. Redirect URIs are compared exactly; they use https://, or http:// on localhost. Clients with a metadata document and clients that registered themselves belong to no organization; each organization can block them. Scopes are names separated by commas, or all, or read for every read-only scope.

Examples:

    mailhelm admin client create acme --name Agent --scopes all --redirect-uri https://agent.example.com/callback
    mailhelm admin client create acme --name Desktop --public --scopes read --redirect-uri http://localhost:3000/callback --refresh-lifetime 30
    mailhelm admin client create acme --name Nightly --scopes api.contacts.view --environment test
    mailhelm admin client list acme
    mailhelm admin client edit acme oc_live_ABCDEFGHIJKLMNOPQRSTUVWXYZ --scopes all --refresh-lifetime 365
    mailhelm admin client rotate-secret acme oc_live_ABCDEFGHIJKLMNOPQRSTUVWXYZ
    mailhelm admin client revoke acme oc_live_ABCDEFGHIJKLMNOPQRSTUVWXYZ
    mailhelm admin client block acme https://agent.example.com/client.json`
}

// clientJSON is the form in which --json prints an OAuth client. Scripts rely on its
// members.
type clientJSON struct {
	// ID is the UUID of the client in the database. ClientID is the OAuth client_id, which
	// begins with oc_.
	ID          string           `json:"id"`
	ClientID    string           `json:"client_id"`
	OrgID       string           `json:"org_id"`
	Name        string           `json:"name"`
	Environment core.Environment `json:"environment"`
	// Public reports whether this is a public client, which has no secret.
	Public       bool     `json:"public"`
	Scopes       []string `json:"scopes"`
	RedirectURIs []string `json:"redirect_uris"`
	// RefreshDays is the number of days, from the authorization, in which a grant can be
	// refreshed. It is null if there is no limit.
	RefreshDays *int       `json:"refresh_days"`
	CreatedAt   time.Time  `json:"created_at"`
	RevokedAt   *time.Time `json:"revoked_at"`
	// Secret is set only by create and rotate-secret, which print it once. The database
	// stores only its hash.
	Secret string `json:"client_secret,omitempty"`
}

// newClientJSON returns the form in which --json prints an OAuth client. secret is ""
// unless this command created the secret. RedirectURIs is never null in JSON.
func newClientJSON(c access.Client, secret string) clientJSON {
	shown := clientJSON{
		ID: c.ID, ClientID: c.ClientID, OrgID: c.OrgID, Name: c.Name, Environment: c.Environment, Public: c.SecretHash == nil,
		Scopes: c.Scopes.Strings(), RedirectURIs: append([]string{}, c.RedirectURIs...),
		CreatedAt: c.CreatedAt, RevokedAt: c.RevokedAt, Secret: secret,
	}
	if c.RefreshDays != 0 {
		shown.RefreshDays = &c.RefreshDays
	}
	return shown
}

// kind returns "public" for a client without a secret, otherwise "confidential" (RFC
// 6749 section 2.1).
func (c clientJSON) kind() string {
	if c.Public {
		return "public"
	}
	return "confidential"
}

// state returns "active" or "revoked". Revocation is permanent.
func (c clientJSON) state() string {
	if c.RevokedAt != nil {
		return "revoked"
	}
	return "active"
}

// lifetime describes the time, from the authorization, in which a grant can be refreshed,
// such as "90 days" or "never ends".
func (c clientJSON) lifetime() string {
	if c.RefreshDays == nil {
		return "never ends"
	}
	return fmt.Sprintf("%d days", *c.RefreshDays)
}

// printClient prints one OAuth client, as JSON with --json and otherwise as a table. It
// prints a newly created secret too, with a hint to keep it.
func printClient(s *installation.Session, c clientJSON) error {
	if s.JSON {
		return s.PrintJSON(c)
	}
	rows := [][]string{
		{"id", c.ID},
		{"client id", c.ClientID},
		{"name", c.Name},
		{"kind", c.kind()},
		{"state", c.state()},
		{"scopes", strings.Join(c.Scopes, " ")},
		{"redirects", strings.Join(c.RedirectURIs, " ")},
		{"refresh", c.lifetime()},
	}
	if c.Secret != "" {
		rows = append(rows, []string{"secret", c.Secret}, []string{"", "Store it now: it is not shown again."})
	}
	return s.PrintTable("", rows)
}

// clientCreate is `mailhelm admin client create`. A client without a redirect URI
// cannot use the authorization code grant.
type clientCreate struct {
	installation.Target
	Org             string   `arg:"" help:"Slug or id."`
	Name            string   `help:"Name for people; consent pages show it." required:"" once:""`
	Scopes          []string `help:"Scope names separated by commas, or all, or read." required:"" once:""`
	RedirectURI     []string `name:"redirect-uri" field:"redirect_uris" sep:"none" help:"Redirect URI for authorization codes; may be repeated." placeholder:"URL" once:""`
	Public          bool     `help:"Register a client without a secret." once:""`
	RefreshLifetime string   `help:"Days after the authorization during which a grant can be refreshed: 30, 90, 365, or never for no end." enum:"never,30,90,365" default:"90" once:""`
	Environment     string   `help:"live or test." enum:"live,test" default:"live" once:""`
}

// Run registers an OAuth client. If the client is confidential, Run prints its secret, this
// one time only. Each run registers another client. An unknown scope fails before the
// database is opened.
func (c *clientCreate) Run(p *cli.Program) error {
	scopes, err := parseScopes(c.Scopes)
	if err != nil {
		return err
	}
	days, err := refreshDays(c.RefreshLifetime)
	if err != nil {
		return err
	}
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		client, secret, err := s.Operator().Lifecycle().CreateClient(ctx, s.Operator().Actor, access.NewClient{
			OrgID: org.ID, Name: c.Name, Environment: core.Environment(c.Environment), Scopes: scopes,
			Public: c.Public, RedirectURIs: c.RedirectURI, RefreshDays: days,
		})
		if err != nil {
			return err
		}
		return printClient(s, newClientJSON(client, secret))
	})
}

// refreshDays parses a number of days; "never" gives 0, which means no limit. It fails for
// other texts, which the parser of the command line already refuses.
func refreshDays(lifetime string) (int, error) {
	if lifetime == "never" {
		return 0, nil
	}
	return strconv.Atoi(lifetime)
}

// clientList is `mailhelm admin client list`.
type clientList struct {
	installation.Target
	Org string `arg:"" help:"Slug or id."`
}

// Run lists the OAuth clients that the organization registered, including revoked ones,
// without their secrets. It does not list clients that belong to no organization.
func (c *clientList) Run(p *cli.Program) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		clients, err := s.DB.Clients().ClientsOf(ctx, org.ID)
		if err != nil {
			return err
		}
		return installation.PrintList(s, "clients", []string{"CLIENT ID", "NAME", "KIND", "STATE", "SCOPES", "REFRESH", "CREATED"}, clients, func(client access.Client) (clientJSON, []string) {
			one := newClientJSON(client, "")
			return one, []string{
				one.ClientID, one.Name, one.kind(), one.state(), fmt.Sprint(len(one.Scopes)), one.lifetime(), installation.Instant(&one.CreatedAt),
			}
		})
	})
}

// clientTarget holds the arguments that select one client of an organization.
type clientTarget struct {
	installation.Target
	Org    string `arg:"" help:"Slug or id of the organization."`
	Client string `arg:"" help:"The client id, oc_..., or the UUID."`
}

// on finds the OAuth client, calls do and prints the client that do returns. It fails if
// the client does not belong to the organization. The string that do returns is a new
// secret, or "" if the secret is unchanged.
func (c clientTarget) on(p *cli.Program, do func(context.Context, *installation.Session, access.Client) (access.Client, string, error)) error {
	return c.WithOrg(p, c.Org, func(ctx context.Context, s *installation.Session, org core.Org) error {
		clients, err := s.DB.Clients().ClientsOf(ctx, org.ID)
		if err != nil {
			return err
		}
		for _, client := range clients {
			if client.ID != c.Client && client.ClientID != c.Client {
				continue
			}
			changed, secret, err := do(ctx, s, client)
			if err != nil {
				return err
			}
			return printClient(s, newClientJSON(changed, secret))
		}
		return fmt.Errorf("there is no such OAuth client in %s: 'mailhelm admin client list %s' shows them", org.Slug, org.Slug)
	})
}

// clientRevoke is `mailhelm admin client revoke`. Revocation cannot be undone.
type clientRevoke struct{ clientTarget }

// Run revokes the OAuth client and the grants that people gave it. It may be repeated.
func (c *clientRevoke) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, client access.Client) (access.Client, string, error) {
		revoked, err := s.Operator().Lifecycle().RevokeClient(ctx, s.Operator().Actor, client.OrgID, client.ID)
		return revoked, "", err
	})
}
