package serve

import (
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/mailhelm/mailhelm/rest/dashboard"
	"github.com/mailhelm/mailhelm/rest/dashboard/developers"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/home"
	"github.com/mailhelm/mailhelm/rest/dashboard/insight"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/rest/ingest"
)

// newDashboard returns two handlers: the dashboard, and the page on which an invited person
// joins an organization. It fails if a page cannot be built.
func newDashboard(
	cfg config.Config, public config.Public, s *stores, domains catalogue.Domains, entrance *login.Site, factors *people.SecondFactors,
	principals *access.Authenticator, guard *guardrails.Guard,
) (board, join http.Handler, err error) { //nolint:nonamedreturns // says which
	members := members.Memberships{
		Orgs: s.db.Orgs(), Members: s.db.Members(), Invitations: s.db.Invitations(), Users: s.db.Users(), Grants: s.db.Grants(), Audit: s.db.Audit(),
		Transactor: s.db, Clock: cfg.Clock, Principals: principals,
	}
	around := frame.New(frame.Config{
		Site: entrance, Organizations: s.db.Members(), Membership: members, Transactor: s.db, Audit: s.db.Audit(), Clock: cfg.Clock,
		Areas: dashboard.Areas,
	})
	start, err := home.New(around, home.Config{
		Keys: s.db.Keys(), Clients: s.db.Clients(), Grants: s.db.Grants(), Members: s.db.Members(), Factors: factors,
		Links: home.Links{
			Keys: developers.KeysPath, NewKey: developers.NewKeyPath, Clients: developers.ClientsPath, Grants: developers.GrantsPath,
			Members: organization.MembersPath,
		},
		APIURL: public.API, MCPURL: public.MCP, AuthURL: public.Auth, Clock: cfg.Clock,
	})
	if err != nil {
		return nil, nil, err
	}
	outcomes, err := insight.New(around, insight.Config{Reports: domains.Reports, Undeliverable: domains.Suppression, Expensive: guard.RunExpensive})
	if err != nil {
		return nil, nil, err
	}
	credentials, err := developers.New(around, developers.Config{
		Keys: s.db.Keys(), Clients: s.db.Clients(), Public: s.db.Clients(), Blocked: s.db.OpenClients(), Grants: s.db.Grants(),
		Members: s.db.Members(), Users: s.db.Users(),
		Lifecycle: access.Lifecycle{Stores: s.db.Access(), Orgs: s.db.Orgs(), Transactor: s.db, Clock: cfg.Clock, Principals: principals},
		APIURL:    public.API, MCPURL: public.MCP, AuthURL: public.Auth, Clock: cfg.Clock,
	})
	if err != nil {
		return nil, nil, err
	}
	company, err := organization.New(around, organization.Config{
		Account: domains.Account, Connections: s.connections, Channels: domains.Channels, Memberships: members, Joining: members,
		Entrance: entrance, Members: s.db.Members(), Invitations: s.db.Invitations(), Factors: factors, Audit: s.db.Audit(),
		Users: s.db.Users(), Keys: s.db.Keys(), Clients: s.db.Clients(), Connecting: newConnecting(cfg, s, domains), Sending: s.accounts, SyncAccount: accounts.SyncAccountOnce(s.queue),
		EventsAddress: func(path string) string { return ingest.Address(public.API, path) },
		AppURL:        public.App, DocsURL: public.Docs, Clock: cfg.Clock,
	})
	if err != nil {
		return nil, nil, err
	}
	board, err = dashboard.Mount(around, start, outcomes, credentials, company)
	return board, company.Join(), err
}
