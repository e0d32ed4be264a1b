package serve

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/catalogue"
	corecontacts "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/messages/silence"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/mailhelm/mailhelm/rest/dashboard"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/audience"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/developers"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/home"
	"github.com/mailhelm/mailhelm/rest/dashboard/imports"
	"github.com/mailhelm/mailhelm/rest/dashboard/insight"
	"github.com/mailhelm/mailhelm/rest/dashboard/messages"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	"github.com/mailhelm/mailhelm/rest/dashboard/registry"
	segmentpages "github.com/mailhelm/mailhelm/rest/dashboard/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates"
	"github.com/mailhelm/mailhelm/rest/ingest"
)

// newDashboard returns two handlers: the dashboard, and the page on which an invited person
// joins an organization. It fails if a page cannot be built.
func newDashboard(
	cfg config.Config, public config.Public, s *stores, domains catalogue.Domains, entrance *login.Site, factors *people.SecondFactors,
	principals *bearer.Authenticator, guard *guardrails.Guard, operations *guardrails.Catalogue,
) (board, join http.Handler, err error) { //nolint:nonamedreturns // says which
	members := members.Memberships{
		Orgs: s.db.Orgs(), Members: s.db.Members(), Invitations: s.db.Invitations(), Users: s.db.Users(), Grants: s.db.Grants(), Audit: s.db.Audit(),
		Transactor: s.db, Clock: cfg.Clock, Principals: principals,
	}
	around := frame.New(frame.Config{
		Site: entrance, Organizations: s.db.Members(), Membership: members, Transactor: s.db, Audit: s.db.Audit(), Clock: cfg.Clock,
		Operations: operations, Expensive: guard.RunExpensive, Pace: pagePace(cfg.Clock, cmp.Or(cfg.PagesPerMinute, pagesPerMinute)), DocsURL: public.Docs, Areas: dashboard.Areas, Built: catalogue.NeededScopes(catalogue.Operations(domains)),
	})
	surround, err := around.Surround()
	if err != nil {
		return nil, nil, err
	}
	entrance.SurroundWith(surround)
	by := actors.Actors{Members: s.db.Members(), Users: s.db.Users(), Keys: s.db.Keys(), Clients: s.db.Clients()}
	start, err1 := home.New(around, home.Config{
		Keys: s.db.Keys(), Clients: s.db.Clients(), Grants: s.db.Grants(), Members: s.db.Members(), Factors: factors,
		Reports: domains.Reports, Account: domains.Account, Syncs: s.db.SyncResults(), Audit: s.db.Audit(),
		Silence: silence.Finder{Messages: s.db.Messages(), Slugs: domains.Channels, Clock: cfg.Clock}, Undeliverable: domains.Suppression, Actors: by,
		Links: home.Links{
			Keys: developers.KeysPath, NewKey: developers.NewKeyPath, Clients: developers.ClientsPath, Grants: developers.GrantsPath,
			Members: organization.MembersPath, Activity: developers.ActivityPath,
		},
		APIURL: public.API, MCPURL: public.MCP, AuthURL: public.Auth, Clock: cfg.Clock, Log: cfg.Log,
	})
	files, errFiles := imports.New(around, imports.Config{Uploads: newUploads(cfg, s, domains.Bulk), Topics: s.db.Topics(), Actors: by})
	groups, err6 := audience.New(around, audience.Config{Lists: domains.Lists, Segments: domains.Segments})
	outcomes, err2 := insight.New(around, insight.Config{Reports: domains.Reports, Undeliverable: domains.Suppression})
	mail, err3 := messages.New(around, messages.Config{Undeliverable: domains.Suppression})
	directory, err9 := contacts.New(around, contacts.Config{
		Directory: corecontacts.NewDirectory(domains.Contacts), Standings: segments.NewStandings(domains.Segments), Memberships: domains.Lists,
		Actors: by,
	})
	definitions, err7 := registry.New(around, registry.Config{Attributes: domains.Attributes, Activities: domains.Activities, Segments: domains.Segments})
	contents, err8 := templates.New(around, domains.Templates)
	credentials, err4 := developers.New(around, developers.Config{
		Keys: s.db.Keys(), Clients: s.db.Clients(), Public: s.db.Clients(), Blocked: s.db.OpenClients(), Grants: s.db.Grants(),
		Members: s.db.Members(), Users: s.db.Users(), Usage: s.db.Usage(),
		Lifecycle: access.Lifecycle{Stores: s.db.Access(), Orgs: s.db.Orgs(), Transactor: s.db, Clock: cfg.Clock, Principals: principals},
		APIURL:    public.API, MCPURL: public.MCP, AuthURL: public.Auth, Clock: cfg.Clock,
	})
	company, err5 := organization.New(around, organization.Config{
		Account: domains.Account, Connections: s.connections, Syncs: s.db.SyncResults(), Channels: domains.Channels, Memberships: members, Joining: members,
		Entrance: entrance, Members: s.db.Members(), Invitations: s.db.Invitations(), Factors: factors, Audit: s.db.Audit(), Writes: titlesOfWrites(catalogue.Operations(domains)),
		Users: s.db.Users(), Actors: by, Connecting: newConnecting(cfg, s, domains), Sending: s.accounts, SyncAccount: accounts.SyncAccountOnce(s.queue),
		EventsAddress: func(path string) string { return ingest.Address(public.API, path) },
		AppURL:        public.App, DocsURL: public.Docs, Clock: cfg.Clock,
	})
	divided, err10 := segmentpages.New(around, segmentpages.Config{Definitions: domains.Segments, Author: segments.Author{Store: s.db.Segments(), Members: s.db.SegmentMembers(), Clock: cfg.Clock}})
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, errFiles); err != nil {
		return nil, nil, err
	}
	board, err = dashboard.Mount(around, start, contents, directory, files, groups, divided, definitions, outcomes, mail, credentials, company)
	return board, company.Join(), err
}

// titlesOfWrites returns the titles of the operations that write, by name.
func titlesOfWrites(operations []core.Operation) map[string]string {
	titles := map[string]string{}
	for _, op := range operations {
		if info := op.Info(); info.Effect != core.Reads {
			titles[info.Name] = info.Title
		}
	}
	return titles
}
