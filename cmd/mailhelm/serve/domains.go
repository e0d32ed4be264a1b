package serve

import (
	"log/slog"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/persons"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/bundling"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/images"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/incoming"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/ownmail"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/pace"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sendevents"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/core/workflows/mailing"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
	"github.com/prometheus/client_golang/prometheus"
)

// newDomains creates the values that implement the operations, such as *contacts.Contacts
// and *messages.Messages. Operations, pages and jobs share these values. newDomains starts
// no job and contacts no account. public has the addresses of the dashboard and of images. Call it once for each
// host, because it registers metrics.
func newDomains(cfg config.Config, s *stores, public config.Public, metrics prometheus.Registerer) catalogue.Domains {
	orgs := s.db.Orgs().OrgIDs
	through := channels.New(channels.Config{
		Store: s.db.Channels(), Account: s.accounts, DNS: outgoing.NewDNS(s.connections), Orgs: orgs, Clock: cfg.Clock, Log: cfg.Log, Results: s.db.SyncResults(),
	})
	figures := reports.New(reports.Config{Store: s.db.Reports(), Channels: through, Clock: cfg.Clock})
	judged := newSuppression(s.db, s.accounts, cfg.Clock, cfg.Log)
	divided := newSegments(s.db, s.accounts, cfg.Clock, cfg.Log)
	triggers := newWorkflowObserver(s.db)
	divided.OnMembers = triggers.ObserveMembers
	changed := outgoing.Both(divided.ObserveChange, triggers.ObserveChange)
	done := newActivities(cfg, s, divided, changed)
	done.OnRecord = triggers.ObserveActivities
	list, subjects, sync := newTopics(cfg, s, divided, changed)
	listed := lists.New(lists.Config{Store: s.db.Lists(), Members: s.db.ListMembers(), Clock: cfg.Clock, Deletes: forwardDeletedLists(divided)})
	observe := outgoing.CountAudience(metrics)
	sendingAccount := account.New(account.Config{
		Account: s.accounts, Connections: s.connections, Mirror: s.db.Channels(), Requests: s.db.ProductionRequests(),
		Rates: figures, Orgs: orgs, Clock: cfg.Clock, Log: cfg.Log,
	})
	written := newTemplates(cfg, s)
	recorded := messages.New(messages.Config{
		Store: s.db.Messages(), Transactor: s.db, Recorders: []messages.Recorder{figures, judged, divided, newObserver(s.db, cfg.Clock), triggers, s.hooks}, Clock: cfg.Clock,
		Channels: through, Suppressions: outgoing.AccountList{Account: s.accounts}, Undeliverables: outgoing.JudgedList{Judged: judged}, HideErased: persons.HideErased(s.erased),
	})
	s.received, s.reports, s.handover = newReceived(cfg, s), newReports(cfg, s), newHandover(cfg, s, sendingAccount, recorded)
	tests, gate := newTestSends(cfg, s, s.handover), newGate(cfg, s, public.App)
	shown := assets.New(assets.Config{Store: s.db.Assets(), Objects: s.incoming.Stores, Transactor: s.db, Clock: cfg.Clock, URL: public.Asset, OnChange: templates.ImageUses{Deployed: s.db.Deployments(), Queue: s.queue, Clock: cfg.Clock}.OnChange})
	written.Images, written.PreviewImage = images.Resolve(shown), images.DataURL(shown)
	finish := images.Finish(newMailSettings(cfg, s), shown)
	mailed := newBroadcasts(cfg, s, broadcastParts{
		templates: outgoing.Templates{Templates: written}, segments: divided, links: outgoing.Links{Signed: s.links}, wake: func() { s.wakeDispatcher() }, finish: finish, approvals: gate,
	})
	all := catalogue.Domains{
		DomainAuth: s.reports.Operations(), Receiving: s.received.Operations, Account: sendingAccount, Messages: recorded,
		Reports: figures, Suppression: judged,
		Channels: through, Templates: written, Workflows: newWorkflows(cfg, s), Broadcasts: mailed,
		Approvals: &approving.Desk{Gate: gate, Broadcasts: mailed},
		TemplateTests: testsends.NewTemplates(testsends.TemplatesConfig{
			Sends: tests, Content: outgoing.NewestTemplate(written), Finish: finish, Senders: outgoing.Senders{Store: s.db.Channels(), Orgs: s.db.Orgs()}, Links: outgoing.Links{Signed: s.links},
		}),
		BroadcastTests: &testsends.Broadcasts{Sends: tests, Messages: mailed},
		Senders:        ownmail.VerifiedSenders(s.db, s.queue, s.letters, s.senderCodes, cfg.Clock),
		Tags:           tags.New(tags.Config{Store: s.db.Tags(), Clock: cfg.Clock}),
		Activities:     done,
		Segments:       divided,
		Contacts: contacts.New(contacts.Config{
			Store: s.db.Contacts(), Searches: s.db.ContactSearch(), Notes: s.db.AccountNotes(), Attributes: s.db.Attributes(),
			List: list, Lists: listed, Locks: subjects.Locks, Account: s.accounts, Clock: cfg.Clock,
			Pushes:     bulkstore.NewPushStore(s.db.DB),
			VisitorIDs: visitorids.New(visitorids.Config{Store: s.db.VisitorIDs(), Sealer: s.master, Record: done.Record}),
			OnChange:   changed, ErasedAddresses: s.erased.Addresses,
		}),
		Bulk: newBulk(cfg, s, listed, changed, observe),
		Pushes: bulk.NewPushes(bulk.PushConfig{
			Store: bulkstore.NewPushStore(s.db.DB), Contacts: s.db.Contacts(), Account: s.accounts, List: list, Locks: subjects.Locks, Repairs: sync,
			Orgs: orgs, Clock: cfg.Clock, Log: cfg.Log, Wait: outgoing.WaitUntil(cfg.Clock), Observe: observe,
		}),
		Lists: listed, Topics: subjects, Sync: sync, Assets: shown,
		Attributes: attributes.New(attributes.Config{
			Store: s.db.Attributes(), Passes: s.db.AttributePasses(), Transactor: s.db, Topics: list, Clock: cfg.Clock, Log: cfg.Log,
			OnChange: changed, AffectedSegments: attributeSegments(divided), ActivityProperties: divided.ActivityProperties,
		}),
	}
	all.Bundles = bundling.New(bundling.Config{
		Store: images.Definitions{Store: s.db.Bundles(), Assets: shown}, Assets: shown, Audit: s.db.Audit(), Transactor: s.db, Attributes: all.Attributes, Activities: done, Lists: listed, Segments: divided, Topics: subjects, Templates: written, Tags: all.Tags,
		Workflows: all.Workflows.Editor, Schemas: workflowSchemas(s.db), Clock: cfg.Clock, Log: cfg.Log,
	})
	return all
}

// newTemplates returns the value that stores and deploys templates.
func newTemplates(cfg config.Config, s *stores) *templates.Templates {
	return templates.New(templates.Config{
		Store: s.db.Templates(), Managed: s.db.ManagedTemplates(), Account: s.accounts, People: outgoing.People{Store: s.db.Contacts()}, Registry: outgoing.Attributes{Store: s.db.Attributes()},
		Deployed: s.db.Deployments(), Queue: s.queue, Orgs: s.db.Orgs().OrgIDs, Clock: cfg.Clock, Log: cfg.Log, Results: s.db.SyncResults(),
	})
}

// newActivities returns the value that stores activities. Each new activity may move contacts
// into or out of segments.
func newActivities(cfg config.Config, s *stores, divided *segments.Segments, changed outgoing.Changes) *activities.Activities {
	return activities.New(activities.Config{
		Store: s.db.Activities(), Properties: s.db.ActivityProperties(), Admit: pace.Activities(cfg, s.sharedBuckets()), OnChange: changed,
		AffectedSegments: propertySegments(divided), Clock: cfg.Clock, Log: cfg.Log,
	})
}

// newTopics returns the contact list of the sending account, the topics, which are in this
// list, and the sync that copies topics and contacts from the account.
func newTopics(cfg config.Config, s *stores, divided *segments.Segments, changed outgoing.Changes) (*topics.Live, *topics.Topics, *topics.Sync) {
	list := topics.NewLive(s.accounts, cfg.Clock, cfg.Log)
	subjects := topics.New(topics.Config{
		Store: s.db.Topics(), Transactor: s.db, Account: s.accounts, Live: list, Locks: sending.NewKeyedLocks(), Contacts: s.db.ContactCount(), Clock: cfg.Clock,
		OnRedefine: forwardRedefinedTopics(divided),
	})
	sync := topics.NewSync(topics.SyncConfig{
		Store: s.db.TopicSync(), Subscribers: s.db.Subscribers(), Topics: subjects, Orgs: s.db.Orgs().OrgIDs, Clock: cfg.Clock, Log: cfg.Log, OnChange: changed,
		Results: s.db.SyncResults(), ErasedAddresses: s.erased.Addresses,
	})
	return list, subjects, sync
}

// newBulk returns the value that stores bulk writes of contacts. observe counts the outcomes
// of rows for metrics.
func newBulk(cfg config.Config, s *stores, listed *lists.Lists, changed outgoing.Changes, observe func(what, outcome string, n int)) *bulk.Bulk {
	return bulk.New(bulk.Config{
		Store: bulkstore.NewJobStore(s.db.DB), Contacts: bulkstore.NewContactStore(s.db.DB), Transactor: s.db, Attributes: s.db.Attributes(), Topics: s.db.Topics(),
		Lists: listed, Orgs: s.db.Orgs().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
		Queue: s.queue, Observe: observe, OnChange: changed, OnWrite: s.db.Replay().Supersede, ErasedAddresses: s.erased.Addresses,
	})
}

// newSegments returns a segments.Segments on the database. account may be nil for callers
// that do not run the job that reads the account's suppression list.
func newSegments(db *storage.DB, account sending.Suppressions, clock core.Clock, log *slog.Logger) *segments.Segments {
	return segments.New(segments.Config{
		Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Suppressions: account, Orgs: db.Orgs().OrgIDs, Clock: clock, Log: log,
	})
}

// newSuppression returns the value that manages undeliverable addresses. account may be nil
// for callers that only record email events.
func newSuppression(db *storage.DB, account sending.Suppressions, clock core.Clock, log *slog.Logger) *suppression.Suppression {
	return suppression.New(suppression.Config{
		Account: account, Store: db.Suppression(), RuleStore: db.SuppressionRules(), Transactor: db, Orgs: db.Orgs().OrgIDs, Clock: clock, Log: log,
	})
}

// Events returns a messages.Messages for commands that import email events. It stores and
// counts events as a server does. Use it only for recording, because it has no channels and
// no suppression lists.
func Events(db *storage.DB, erased privacy.Erased, clock core.Clock, log *slog.Logger) *messages.Messages {
	return messages.New(messages.Config{Store: db.Messages(), Transactor: db, Clock: clock, HideErased: persons.HideErased(erased), Recorders: []messages.Recorder{
		reports.New(reports.Config{Store: db.Reports(), Clock: clock}), newSuppression(db, nil, clock, log),
		newSegments(db, nil, clock, log), newObserver(db, clock), webhooks.NewObserver(db.Webhooks(), clock),
	}})
}

// newObserver returns the recorder that resolves recipients of sends by events.
func newObserver(db *storage.DB, clock core.Clock) sendevents.Observer {
	return sendevents.Observer{Store: db.Handover(), Corrected: mailing.Corrected(workflowstore.NewMailStore(db.DB)), Clock: clock}
}

// Imports returns a bulk.Bulk for commands that import contacts from files. It stores
// contacts as a server does. It does not send consent to the sending account; a server does
// so later.
func Imports(db *storage.DB, erased privacy.Erased, clock core.Clock, log *slog.Logger) *bulk.Bulk {
	return bulk.New(bulk.Config{
		Store: bulkstore.NewJobStore(db.DB), Contacts: bulkstore.NewContactStore(db.DB), Transactor: db, Attributes: db.Attributes(), Topics: db.Topics(),
		Lists: lists.New(lists.Config{Store: db.Lists(), Members: db.ListMembers(), Clock: clock}), Orgs: db.Orgs().OrgIDs, Clock: clock, Log: log,
		OnChange: newSegments(db, nil, clock, log).ObserveChange, ErasedAddresses: erased.Addresses,
	})
}

// incomingNeeds returns what the parts that receive mail need.
func incomingNeeds(cfg config.Config, s *stores, public config.Public, metrics prometheus.Registerer) incoming.Needs {
	return incoming.Needs{
		Config: cfg, Public: public, Store: s.db.Inboxes(), Notices: s.db.InboxNotices(), Accepted: s.db.ReceivedNotices(), Received: s.db.ReceivedMail(),
		Buckets: s.db.MailBuckets(s.master), Transactor: s.db, Channels: s.db.Channels(), Claims: s.db.VerifiedSenders(), Master: s.master, Connections: s.connections, Queue: s.queue, Metrics: metrics,
	}
}
