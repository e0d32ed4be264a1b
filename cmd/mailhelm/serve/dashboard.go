package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/retaining"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/pace"
	parts "github.com/mailhelm/mailhelm/cmd/mailhelm/serve/repository"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/closing"
	corecontacts "github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/messages/silence"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/segments"
	coretemplates "github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/oauth/login"
	"github.com/mailhelm/mailhelm/rest/dashboard"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	approvalpages "github.com/mailhelm/mailhelm/rest/dashboard/approvals"
	"github.com/mailhelm/mailhelm/rest/dashboard/assets"
	"github.com/mailhelm/mailhelm/rest/dashboard/audience"
	"github.com/mailhelm/mailhelm/rest/dashboard/broadcasts"
	closingpages "github.com/mailhelm/mailhelm/rest/dashboard/closing"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/developers"
	"github.com/mailhelm/mailhelm/rest/dashboard/domainauth"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	githubpages "github.com/mailhelm/mailhelm/rest/dashboard/github"
	"github.com/mailhelm/mailhelm/rest/dashboard/home"
	"github.com/mailhelm/mailhelm/rest/dashboard/imports"
	"github.com/mailhelm/mailhelm/rest/dashboard/inboxes"
	"github.com/mailhelm/mailhelm/rest/dashboard/insight"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailsettings"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstorage"
	"github.com/mailhelm/mailhelm/rest/dashboard/messages"
	"github.com/mailhelm/mailhelm/rest/dashboard/organization"
	personpages "github.com/mailhelm/mailhelm/rest/dashboard/persons"
	"github.com/mailhelm/mailhelm/rest/dashboard/receiving"
	"github.com/mailhelm/mailhelm/rest/dashboard/registry"
	"github.com/mailhelm/mailhelm/rest/dashboard/repository"
	"github.com/mailhelm/mailhelm/rest/dashboard/retention"
	segmentpages "github.com/mailhelm/mailhelm/rest/dashboard/segments"
	"github.com/mailhelm/mailhelm/rest/dashboard/senders"
	"github.com/mailhelm/mailhelm/rest/dashboard/simulated"
	sitepages "github.com/mailhelm/mailhelm/rest/dashboard/site"
	"github.com/mailhelm/mailhelm/rest/dashboard/tags"
	"github.com/mailhelm/mailhelm/rest/dashboard/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/workflows"
	"github.com/mailhelm/mailhelm/rest/ingest"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// newDashboard returns two handlers: the dashboard, and the page on which an invited person
// joins an organization. It fails if a page cannot be built.
func newDashboard(
	cfg config.Config, public config.Public, s *stores, domains catalogue.Domains, entrance *login.Site, factors *people.SecondFactors,
	principals *bearer.Authenticator, guard *guardrails.Guard, operations *guardrails.Catalogue,
) (board, join http.Handler, err error) { //nolint:nonamedreturns // says which
	membership := members.Memberships{
		Orgs: s.db.Orgs(), Members: s.db.Members(), Invitations: s.db.Invitations(), Users: s.db.Users(), Grants: s.db.Grants(), Audit: s.db.Audit(),
		Transactor: s.db, Clock: cfg.Clock, Principals: principals,
	}
	around := frame.New(frame.Config{
		Site: entrance, Organizations: s.db.Members(), Membership: membership, Transactor: s.db, Audit: s.db.Audit(), Clock: cfg.Clock,
		Operations: operations, Expensive: guard.RunExpensive, ReplicaLag: cfg.ReplicaBound(), Pace: pace.Pages(cfg.Clock, cmp.Or(cfg.PagesPerMinute, pace.PagesPerMinute)), MailStopped: outgoing.MailStopped(s.db.HandoverLimits()), DocsURL: public.Docs, Areas: dashboard.Areas, Built: catalogue.NeededScopes(catalogue.Operations(domains)),
	})
	surround, err := around.Surround()
	if err != nil {
		return nil, nil, err
	}
	entrance.SurroundWith(surround)
	b := roomBuilder{
		around: around, cfg: cfg, public: public, s: s, domains: domains, factors: factors,
		actors: actors.Actors{Members: s.db.Members(), Users: s.db.Users(), Keys: s.db.Keys(), Clients: s.db.Clients()},
	}
	company, err := b.organization(entrance, membership)
	b.add(company, err)
	b.addMail()
	b.add(b.approvals())
	b.addAudience()
	b.add(b.home())
	b.add(b.developers(principals))
	b.add(inboxes.New(around, inboxes.Config{Attachments: domains.Inboxes}))
	b.add(closingpages.New(around, closingpages.Config{
		Organizations: closing.Organizations{
			Store: closingstore.NewOrgStore(s.db.DB), Orgs: s.db.Orgs(), Members: s.db.Members(), Audit: s.db.Audit(), Transactor: s.db, Clock: cfg.Clock, Forget: principals.ForgetOrg,
		},
		Rows: closingstore.NewExportStore(s.db.DB), Definitions: bundles.Files(s.db.Bundles()),
	}))
	b.add(webhooks.New(around, newWebhooks(cfg, s)))
	b.add(sitepages.New(b.around, sitepages.Config{Settings: s.site.Settings, Changed: s.site.Changed, APIURL: public.API}))
	b.add(repository.New(around, repository.Config{Settings: s.repository.Settings, GitHub: s.app.PathOf(githubpages.Path), Definitions: parts.Definitions(s.db.Bundles()), Promote: s.repository.Proposals.Promote}))
	b.add(githubpages.New(around, githubpages.Config{App: s.app.App, Off: s.app.App == nil, Connect: s.repository.Settings.Connect, AppURL: public.App, Then: repository.Path, Clock: cfg.Clock, Log: cfg.Log}))
	b.add(domainauth.New(around, domainauth.Config{Store: s.db.DomainAuth(), Arrivals: s.db.ReportArrivals(), Subscriptions: s.db.DomainNotices()}))
	b.add(receiving.New(around, receiving.Config{Domains: s.db.ReceivingDomains(), Desk: s.received.Desk}))
	if err := errors.Join(b.failed...); err != nil {
		return nil, nil, err
	}
	mux, err := dashboard.Mount(around, b.rooms...)
	return pagesWithPaths{mux, around.Paths()}, company.Join(), err
}

// roomBuilder creates the rooms of the dashboard, the packages of its pages.
type roomBuilder struct {
	around  *frame.Frame
	cfg     config.Config
	public  config.Public
	s       *stores
	domains catalogue.Domains
	factors *people.SecondFactors
	actors  actors.Actors

	rooms  []dashboard.Room
	failed []error
}

// add adds a room, or the error of its creation.
func (b *roomBuilder) add(room dashboard.Room, err error) {
	b.rooms, b.failed = append(b.rooms, room), append(b.failed, err)
}

// addMail adds the rooms about broadcasts, templates, messages and the results of sending.
func (b *roomBuilder) addMail() {
	b.add(tags.New(b.around, tags.Config{Tags: b.domains.Tags, Templates: b.domains.Templates, Broadcasts: b.s.db.Broadcasts()}))
	b.add(mailsettings.New(b.around, newMailSettings(b.cfg, b.s)))
	b.add(retention.New(b.around, retaining.Parts{DB: b.s.db.DB, Orgs: b.s.db.Orgs(), Audit: b.s.db.Audit(), Clock: b.cfg.Clock}.Settings()))
	b.add(mailstorage.New(b.around, b.s.incoming.Settings))
	b.add(broadcasts.New(b.around, broadcasts.Config{
		Broadcasts: b.domains.Broadcasts, Store: b.s.db.Broadcasts(), Audience: b.s.db.Audiences(), Audiences: outgoing.Audiences{Lists: b.s.db.Lists(), Segments: b.s.db.Segments()},
		Outcomes: b.s.db.Outcomes(), Approvals: b.domains.Approvals.Gate, Tags: b.domains.Tags, Topics: b.s.db.Topics(), Templates: b.domains.Templates, Actors: b.actors,
	}))
	b.add(workflows.New(b.around, workflows.Config{Editor: b.domains.Workflows.Editor, Actors: b.actors}))
	b.add(templates.New(b.around, templates.Config{Stored: b.domains.Templates, Actors: b.actors}))
	b.add(assets.New(b.around, assets.Config{
		Content: b.domains.Assets.ContentAt, Uses: coretemplates.ImageUses{Deployed: b.s.db.Deployments(), Clock: b.cfg.Clock}.Of, Published: b.public.Asset != "",
	}))
	b.add(messages.New(b.around, messages.Config{Undeliverable: b.domains.Suppression}))
	b.add(simulated.New(b.around, simulated.Config{
		Account: b.s.account, Connections: b.s.connections, UnsubscribeURL: b.public.App + unsubscribe.Path,
	}))
	b.add(senders.New(b.around))
	b.add(insight.New(b.around, insight.Config{Reports: b.domains.Reports, Undeliverable: b.domains.Suppression}))
}

// approvals returns the pages with which people keep control of what applications send.
func (b *roomBuilder) approvals() (*approvalpages.Approvals, error) {
	db := b.s.db
	return approvalpages.New(b.around, approvalpages.Config{
		Desk: b.domains.Approvals, Store: db.SendPolicies(), Policies: approvals.Policies{Store: db.SendPolicies(), Audit: db.Audit(), Clock: b.cfg.Clock},
		Limits: approvals.Limits{Store: db.HandoverLimits(), Audit: db.Audit(), Clock: b.cfg.Clock}, Stops: db.HandoverLimits(),
		Grants: db.Grants(), Clients: db.Clients(), Actors: b.actors, Wake: b.domains.Broadcasts.LookForWork, Held: workflowstore.NewRunStore(db.DB), HeldPath: workflows.HeldPath,
	})
}

// addAudience adds the rooms about contacts and the definitions that divide them.
func (b *roomBuilder) addAudience() {
	b.add(contacts.New(b.around, contacts.Config{
		Directory: corecontacts.NewDirectory(b.domains.Contacts), Standings: segments.NewStandings(b.domains.Segments), Memberships: b.domains.Lists,
		Actors: b.actors,
	}))
	b.add(b.persons())
	b.add(imports.New(b.around, imports.Config{Uploads: newUploads(b.cfg, b.s, b.domains.Bulk), Topics: b.s.db.Topics(), Actors: b.actors}))
	b.add(audience.New(b.around, audience.Config{Lists: b.domains.Lists, Segments: b.domains.Segments}))
	b.add(segmentpages.New(b.around, segmentpages.Config{
		Definitions: b.domains.Segments, Author: segments.Author{Store: b.s.db.Segments(), Members: b.s.db.SegmentMembers(), Clock: b.cfg.Clock},
	}))
	b.add(registry.New(b.around, registry.Config{Attributes: b.domains.Attributes, Activities: b.domains.Activities, Segments: b.domains.Segments}))
}

// persons returns the pages that export and erase the data of a person.
func (b *roomBuilder) persons() (*personpages.Room, error) {
	db := b.s.db
	known, err := persons.New(privacy.Config{
		Store: db.Privacy(), Account: b.s.accounts, Runs: workflowstore.NewTimerStore(db.DB), Audit: db.Audit(), Transactor: db, Clock: b.cfg.Clock,
		Journal: persons.NewJournal(b.cfg.DataDir),
	}, b.s.erased, b.s.incoming.Stores)
	if err != nil {
		return nil, err
	}
	return personpages.New(b.around, personpages.Config{
		Privacy: known, Factors: b.factors.FactorsOf,
		Email: func(ctx context.Context, orgID, id string) (string, error) {
			c, err := corecontacts.NewDirectory(b.domains.Contacts).Contact(ctx, orgID, id)
			return c.Email, err
		},
	})
}

// home returns the overview.
func (b *roomBuilder) home() (*home.Home, error) {
	db := b.s.db
	return home.New(b.around, home.Config{
		Keys: db.Keys(), Clients: db.Clients(), Grants: db.Grants(), Members: db.Members(), Factors: b.factors,
		Reports: b.domains.Reports, Account: b.domains.Account, Syncs: db.SyncResults(), Audit: db.Audit(),
		Silence:       silence.Finder{Messages: db.Messages(), Slugs: b.domains.Channels, Clock: b.cfg.Clock},
		Undeliverable: b.domains.Suppression, Receiving: db.ReceivingDomains(), Approvals: b.domains.Approvals, Actors: b.actors,
		Links: home.Links{
			Keys: developers.KeysPath, NewKey: developers.NewKeyPath, Clients: developers.ClientsPath, Grants: developers.GrantsPath,
			Members: organization.MembersPath, Activity: developers.ActivityPath,
		},
		APIURL: b.public.API, MCPURL: b.public.MCP, AuthURL: b.public.Auth, Clock: b.cfg.Clock, Log: b.cfg.Log,
	})
}

// developers returns the pages about API keys, applications and assistants.
func (b *roomBuilder) developers(principals *bearer.Authenticator) (*developers.Developers, error) {
	db := b.s.db
	return developers.New(b.around, developers.Config{
		Keys: db.Keys(), Clients: db.Clients(), Public: db.Clients(), Blocked: db.OpenClients(), Grants: db.Grants(),
		Members: db.Members(), Users: db.Users(), Usage: db.Usage(),
		Lifecycle: access.Lifecycle{Stores: db.Access(), Orgs: db.Orgs(), Transactor: db, Clock: b.cfg.Clock, Principals: principals},
		APIURL:    b.public.API, MCPURL: b.public.MCP, AuthURL: b.public.Auth, Clock: b.cfg.Clock,
	})
}

// organization returns the pages about the organization, its members and its sending
// account.
func (b *roomBuilder) organization(entrance *login.Site, membership members.Memberships) (*organization.Organization, error) {
	db := b.s.db
	return organization.New(b.around, organization.Config{
		Account: b.domains.Account, Connections: b.s.connections, Syncs: db.SyncResults(), Channels: b.domains.Channels, Memberships: membership, Joining: membership,
		Entrance: entrance, Members: db.Members(), Invitations: db.Invitations(), Factors: b.factors, Audit: db.Audit(),
		Writes: catalogue.TitlesOfWrites(catalogue.Operations(b.domains)),
		Users:  db.Users(), Actors: b.actors, Connecting: newConnecting(b.cfg, b.s, b.domains), Sending: b.s.accounts, SyncAccount: accounts.SyncAccountOnce(b.s.queue),
		EventsAddress: func(path string) string { return ingest.Address(b.public.API, path) },
		AppURL:        b.public.App, DocsURL: b.public.Docs, Clock: b.cfg.Clock,
	})
}
