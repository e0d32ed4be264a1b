package storage

import (
	"context"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/installation"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/core/webhooks"
	accessstore "github.com/mailhelm/mailhelm/storage/access"
	"github.com/mailhelm/mailhelm/storage/activities"
	approvalstore "github.com/mailhelm/mailhelm/storage/approvals"
	assetstore "github.com/mailhelm/mailhelm/storage/assets"
	attributestore "github.com/mailhelm/mailhelm/storage/attributes"
	broadcaststore "github.com/mailhelm/mailhelm/storage/broadcasts"
	bundlestore "github.com/mailhelm/mailhelm/storage/bundles"
	"github.com/mailhelm/mailhelm/storage/channels"
	consentstore "github.com/mailhelm/mailhelm/storage/consent"
	contactstore "github.com/mailhelm/mailhelm/storage/contacts"
	domainauthstore "github.com/mailhelm/mailhelm/storage/domainauth"
	"github.com/mailhelm/mailhelm/storage/engine"
	gitstore "github.com/mailhelm/mailhelm/storage/git"
	handoverstore "github.com/mailhelm/mailhelm/storage/handover"
	inboundstore "github.com/mailhelm/mailhelm/storage/inbound"
	inboxstore "github.com/mailhelm/mailhelm/storage/inboxes"
	installationstore "github.com/mailhelm/mailhelm/storage/installation"
	liststore "github.com/mailhelm/mailhelm/storage/lists"
	mailsettingstore "github.com/mailhelm/mailhelm/storage/mailsettings"
	memberstore "github.com/mailhelm/mailhelm/storage/members"
	"github.com/mailhelm/mailhelm/storage/messages"
	"github.com/mailhelm/mailhelm/storage/monitoring"
	objectstore "github.com/mailhelm/mailhelm/storage/objects"
	"github.com/mailhelm/mailhelm/storage/partitions"
	passwordchangestore "github.com/mailhelm/mailhelm/storage/passwordchange"
	peoplestore "github.com/mailhelm/mailhelm/storage/people"
	privacystore "github.com/mailhelm/mailhelm/storage/privacy"
	receivingstore "github.com/mailhelm/mailhelm/storage/receiving"
	"github.com/mailhelm/mailhelm/storage/replay"
	"github.com/mailhelm/mailhelm/storage/reports"
	"github.com/mailhelm/mailhelm/storage/segments"
	senderstore "github.com/mailhelm/mailhelm/storage/senders"
	sendingstore "github.com/mailhelm/mailhelm/storage/sending"
	signingstore "github.com/mailhelm/mailhelm/storage/signing"
	sitestore "github.com/mailhelm/mailhelm/storage/site"
	"github.com/mailhelm/mailhelm/storage/suppression"
	tagstore "github.com/mailhelm/mailhelm/storage/tags"
	"github.com/mailhelm/mailhelm/storage/templates"
	testsendstore "github.com/mailhelm/mailhelm/storage/testsends"
	topicstore "github.com/mailhelm/mailhelm/storage/topics"
	usagestore "github.com/mailhelm/mailhelm/storage/usage"
	visitorstore "github.com/mailhelm/mailhelm/storage/visitorids"
	webhookstore "github.com/mailhelm/mailhelm/storage/webhooks"
)

// Config selects the database to open; see [engine.Config].
type Config = engine.Config

// DB is an open database with the stores of all domains. It is safe for concurrent use. It
// has a method for every store except those of packages bulk, contactimport and workflows.
type DB struct{ *engine.DB }

// Open opens the database without changing its schema; see [engine.DB.Migrate]. It
// returns an error if the database cannot be reached.
func Open(ctx context.Context, c Config) (*DB, error) {
	db, err := engine.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return &DB{db}, nil
}

// Migrate applies all migrations that the database lacks; see [engine.DB.Migrate]. It also divides
// large tables of PostgreSQL that have no rows; see package partitions.
func (db *DB) Migrate(ctx context.Context) error {
	if err := db.DB.Migrate(ctx); err != nil {
		return err
	}
	return db.Partitions().Setup(ctx, db.Now())
}

// Partitions returns what makes and removes the partitions of large tables.
func (db *DB) Partitions() partitions.Keeper { return partitions.New(db.DB) }

// Access returns the stores of API keys, OAuth clients, grants, tokens and the audit log.
func (db *DB) Access() access.Stores { return accessstore.New(db.DB) }

// Keys returns the store of API keys.
func (db *DB) Keys() access.KeyStore { return db.Access().Keys }

// Clients returns the store of OAuth clients.
func (db *DB) Clients() access.ClientStore { return db.Access().Clients }

// OpenClients returns the store of OAuth clients that belong to no organization.
func (db *DB) OpenClients() access.OpenClientStore { return db.Access().OpenClients }

// Grants returns the store of grants.
func (db *DB) Grants() access.GrantStore { return db.Access().Grants }

// Tokens returns the store of authorization codes, refresh tokens and denied access tokens.
func (db *DB) Tokens() access.TokenStore { return db.Access().Tokens }

// Audit returns the store of the audit log.
func (db *DB) Audit() access.AuditStore { return db.Access().Audit }

// Monitoring returns the store of figures of the whole database.
func (db *DB) Monitoring() monitoring.Store { return monitoring.New(db.DB) }

// FollowAccessChanges calls the function changed for each change of credentials, grants and
// settings that another process commits; see [accessstore.FollowChanges].
func (db *DB) FollowAccessChanges(ctx context.Context, changed func(access.Change)) {
	accessstore.FollowChanges(ctx, db.DB, changed)
}

// People returns the store of known devices and password warnings.
func (db *DB) People() people.Store { return peoplestore.New(db.DB) }

// Privacy returns the store that reads and erases the data of persons.
func (db *DB) Privacy() privacystore.Store { return privacystore.New(db.DB) }

// PasswordResets returns the store of links that reset a password.
func (db *DB) PasswordResets() passwordchange.ResetStore { return passwordchangestore.New(db.DB) }

// Users returns the store of people and their password hashes.
func (db *DB) Users() people.UserStore { return peoplestore.NewUserStore(db.DB) }

// Sessions returns the store of signed-in browsers.
func (db *DB) Sessions() people.SessionStore { return peoplestore.NewSessionStore(db.DB) }

// Factors returns the store of authenticator apps and recovery codes.
func (db *DB) Factors() people.FactorStore { return peoplestore.NewFactorStore(db.DB) }

// Passkeys returns the store of passkeys. It also stores the ceremonies that are in
// progress: registrations of passkeys, sign-ins and second factors with passkeys.
func (db *DB) Passkeys() people.PasskeyStore { return peoplestore.NewPasskeyStore(db.DB) }

// Orgs returns the store of organizations.
func (db *DB) Orgs() members.OrgStore { return memberstore.NewOrgStore(db.DB) }

// Members returns the store of memberships.
func (db *DB) Members() members.Store { return memberstore.New(db.DB) }

// Invitations returns the store of open invitations.
func (db *DB) Invitations() members.InvitationStore { return memberstore.NewInvitationStore(db.DB) }

// MasterKeys returns the store of the succession of master keys.
func (db *DB) MasterKeys() signing.MasterKeyStore { return signingstore.NewMasterKeys(db.DB) }

// Installation returns the store of facts that all processes must know.
func (db *DB) Installation() installation.Store { return installationstore.New(db.DB) }

// SigningKeys returns the store of the keys that sign access tokens.
func (db *DB) SigningKeys() signing.Store { return signingstore.New(db.DB) }

// Contacts returns the store of contacts.
func (db *DB) Contacts() contacts.Store { return contactstore.New(db.DB) }

// ContactSearch returns the store that finds contacts by several filters.
func (db *DB) ContactSearch() contacts.SearchStore { return contactstore.New(db.DB) }

// VisitorIDs returns the store of the ids by which contacts are recognized on websites.
func (db *DB) VisitorIDs() visitorids.Store { return visitorstore.New(db.DB) }

// Site returns the store of site keys and of counts of beacons.
func (db *DB) Site() site.Store { return sitestore.New(db.DB) }

// ContactCount returns the store that counts contacts.
func (db *DB) ContactCount() topics.ContactCounter { return contactstore.New(db.DB) }

// Attributes returns the store of attribute definitions.
func (db *DB) Attributes() attributes.Store { return attributestore.New(db.DB) }

// AttributePasses returns the store that rewrites stored contacts after attribute
// definitions have changed.
func (db *DB) AttributePasses() attributes.PassStore { return attributestore.NewPassStore(db.DB) }

// Lists returns the store of static lists.
func (db *DB) Lists() lists.Store { return liststore.New(db.DB) }

// ListMembers returns the store of the members of static lists and of the membership log.
func (db *DB) ListMembers() lists.MemberStore { return liststore.NewMemberStore(db.DB) }

// Topics returns the store of the topics that were copied from the sending account.
func (db *DB) Topics() topics.Store { return topicstore.New(db.DB) }

// TopicSync returns the store of the account's contact list. It also returns and deletes
// the notes from which a sync with the account repairs interrupted writes of contacts.
func (db *DB) TopicSync() topics.SyncStore { return topicstore.New(db.DB) }

// Subscribers returns the store through which a sync compares contacts with the sending
// account and stores the account's consent.
func (db *DB) Subscribers() topics.SubscriberStore { return contactstore.NewSubscriberStore(db.DB) }

// AccountNotes returns the store of notes about writes of contacts. A write stores its note
// before it changes the sending account, so that the next sync with the account can repair
// an interrupted write.
func (db *DB) AccountNotes() contacts.NoteStore { return topicstore.New(db.DB) }

// Segments returns the store of segments.
func (db *DB) Segments() segments.Store { return segments.New(db.DB) }

// SegmentMembers returns the store of the members of segments.
func (db *DB) SegmentMembers() segments.MemberStore { return segments.NewMemberStore(db.DB) }

// SegmentChanges returns the store of the contacts for which segments must be evaluated.
func (db *DB) SegmentChanges() segments.ChangeStore { return segments.NewChangeStore(db.DB) }

// Subjects returns the store that reads contacts for the evaluation of predicates in memory.
func (db *DB) Subjects() segments.SubjectStore { return segments.NewSubjectStore(db.DB) }

// Activities returns the store of activities.
func (db *DB) Activities() activities.Store { return activities.New(db.DB, contactstore.New(db.DB)) }

// ActivityProperties returns the store of the promoted properties of activities.
func (db *DB) ActivityProperties() activities.PropertyStore {
	return activities.NewPropertyStore(db.DB)
}

// Messages returns the store of messages and their events.
func (db *DB) Messages() messages.Store { return messages.New(db.DB) }

// Reports returns the store of report figures per day and per hour.
func (db *DB) Reports() reports.Store { return reports.New(db.DB) }

// Usage returns the store of the numbers of calls at the agent endpoint.
func (db *DB) Usage() usage.Store { return usagestore.New(db.DB) }

// Handover returns the store of the recipients of sends.
func (db *DB) Handover() handover.Store { return handoverstore.New(db.DB) }

// HandoverLimits returns the store of limits on the mail of organizations.
func (db *DB) HandoverLimits() handover.LimitStore { return handoverstore.NewLimitStore(db.DB) }

// Outcomes returns the store that reads the outcomes of sends.
func (db *DB) Outcomes() handover.OutcomeStore { return handoverstore.NewOutcomeStore(db.DB) }

// Broadcasts returns the store of broadcasts.
func (db *DB) Broadcasts() broadcasts.Store { return broadcaststore.New(db.DB) }

// OpenBroadcasts returns the store that finds the broadcasts of all organizations that have
// something to do.
func (db *DB) OpenBroadcasts() broadcasts.OpenStore { return broadcaststore.New(db.DB) }

// Audiences returns the store that reads and copies the members of lists and segments.
func (db *DB) Audiences() broadcasts.AudienceStore { return broadcaststore.NewAudienceStore(db.DB) }

// Approvals returns the store of sends that wait for a person.
func (db *DB) Approvals() approvals.Store { return approvalstore.New(db.DB) }

// SendPolicies returns the store of the policies that hold sends back.
func (db *DB) SendPolicies() approvals.PolicyStore { return approvalstore.NewPolicyStore(db.DB) }

// TestSends returns the store of test sends.
func (db *DB) TestSends() testsends.Store { return testsendstore.New(db.DB) }

// Suppression returns the store of undeliverable addresses.
func (db *DB) Suppression() suppression.Store { return suppression.New(db.DB) }

// SuppressionRules returns the store of the rules for undeliverable addresses.
func (db *DB) SuppressionRules() suppression.RuleStore { return suppression.NewRuleStore(db.DB) }

// Channels returns the store of channels, identities and tracking domains.
func (db *DB) Channels() channels.Store { return channels.New(db.DB) }

// Connections returns the store of connections to sending accounts. It encrypts their
// secrets with sealer, so that they can be decrypted only for the same organization.
func (db *DB) Connections(sealer sending.Sealer) sendingstore.ConnectionStore {
	return sendingstore.NewConnectionStore(db.DB, sealer)
}

// Consent returns the store of the contact lists of organizations that send through an SMTP
// server.
func (db *DB) Consent() consentstore.Store { return consentstore.New(db.DB, nil) }

// MailBuckets returns the store of the buckets with received mail. It encrypts their secrets
// with sealer.
func (db *DB) MailBuckets(sealer sending.Sealer) objects.BucketStore {
	return objectstore.New(db.DB, sealer)
}

// Git returns the store of connections to Git repositories and of proposals. It encrypts secrets with
// sealer.
func (db *DB) Git(sealer sending.Sealer) gitstore.Store { return gitstore.New(db.DB, sealer) }

// ProductionRequests returns the store of requests to the provider for production access.
func (db *DB) ProductionRequests() sendingstore.AccessRequestStore {
	return sendingstore.NewAccessRequestStore(db.DB)
}

// SyncResults returns the store of how the latest syncs with sending accounts ended.
func (db *DB) SyncResults() sendingstore.SyncResultStore {
	return sendingstore.NewSyncResultStore(db.DB)
}

// Templates returns the store of the templates that were copied from the sending account.
func (db *DB) Templates() templates.Store { return templates.New(db.DB) }

// ManagedTemplates returns the store of the templates that Mailhelm manages.
func (db *DB) ManagedTemplates() templates.ManagedStore { return templates.NewManagedStore(db.DB) }

// Webhooks returns the store of webhook endpoints and their deliveries.
func (db *DB) Webhooks() webhooks.Store { return webhookstore.New(db.DB) }

// WebhookQueue returns the due webhook deliveries of all organizations.
func (db *DB) WebhookQueue() webhooks.Queue { return webhookstore.New(db.DB) }

// ReceivedMail returns the queue of accepted messages that are not processed yet.
func (db *DB) ReceivedMail() inboundstore.Queue { return inboundstore.NewQueue(db.DB) }

// ReceivedNotices returns the notices about accepted messages between processes.
func (db *DB) ReceivedNotices() inboundstore.Notices { return inboundstore.NewNotices(db.DB) }

// ReportArrivals returns the store of files with DMARC reports that arrive by mail.
func (db *DB) ReportArrivals() domainauthstore.Arrivals { return domainauthstore.NewArrivals(db.DB) }

// ReceivingDomains returns the store of receiving domains and their addresses.
func (db *DB) ReceivingDomains() receiving.Store { return receivingstore.New(db.DB) }

// ReceivedLog returns the store that reads the log of received mail.
func (db *DB) ReceivedLog() receivingstore.LogStore { return receivingstore.NewLog(db.DB) }

// ReceivingRoutes returns the store of what is published of receiving domains.
func (db *DB) ReceivingRoutes() receiving.RoutingStore { return receivingstore.NewRouting(db.DB) }

// ReceivedDeliveries returns the store of contents and deliveries of received mail.
func (db *DB) ReceivedDeliveries() receivingstore.DeliveryStore {
	return receivingstore.NewDeliveries(db.DB)
}

// Inboxes returns the store of temporary inboxes, their pull links and messages.
func (db *DB) Inboxes() inboxstore.Store { return inboxstore.New(db.DB) }

// InboxNotices returns the notices about changed inboxes between processes.
func (db *DB) InboxNotices() inboxstore.Notices { return inboxstore.NewNotices(db.DB) }

// Deployments returns the store of how far managed templates have come to sending accounts.
func (db *DB) Deployments() templates.DeployStore { return templates.NewDeployStore(db.DB) }

// VerifiedSenders returns the store of claims of verified senders.
func (db *DB) VerifiedSenders() senders.Store { return senderstore.New(db.DB) }

// SenderStarts returns the store that counts the starts of verifications.
func (db *DB) SenderStarts() senders.StartStore { return senderstore.New(db.DB) }

// Tags returns the store of the tags of templates and broadcasts.
func (db *DB) Tags() tags.Store { return tagstore.New(db.DB) }

// Assets returns the store of the images that mail shows.
func (db *DB) Assets() assets.Store { return assetstore.New(db.DB) }

// PublicAssets returns the store that finds images of all organizations by their hashes.
func (db *DB) PublicAssets() assets.PublicStore { return assetstore.New(db.DB) }

// Bundles returns the store that reads the definitions of organizations for bundles.
func (db *DB) Bundles() bundles.Store { return bundlestore.New(db.DB) }

// MailSettings returns the store of the mail settings of organizations.
func (db *DB) MailSettings() mailsettings.Store { return mailsettingstore.New(db.DB) }

// Replay returns the store of call results by idempotency key, and of used confirmation
// tokens.
func (db *DB) Replay() replay.Store { return replay.New(db.DB) }

// Processes returns the store of the heartbeats of server processes.
func (db *DB) Processes() replay.ProcessStore { return replay.NewProcessStore(db.DB) }

// DomainAuth returns the store of domain authentication.
func (db *DB) DomainAuth() domainauthstore.Store { return domainauthstore.New(db.DB) }

// DMARCReports returns the store of DMARC reports.
func (db *DB) DMARCReports() domainauthstore.Intake { return domainauthstore.NewIntake(db.DB) }

// DomainMeasuring returns the store of polls, findings and events of domain authentication.
func (db *DB) DomainMeasuring() domainauthstore.Measuring { return domainauthstore.NewMeasuring(db.DB) }

// DomainNotices returns the store of mails about domains to members.
func (db *DB) DomainNotices() domainauthstore.Subscriptions {
	return domainauthstore.NewSubscriptions(db.DB)
}
