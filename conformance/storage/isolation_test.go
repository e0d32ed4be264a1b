package storage_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// ownedObjects holds the objects of one organization. The tests try to read and change
// them as another organization.
type ownedObjects struct {
	org      string
	contact  contacts.Contact
	shell    contacts.Contact // a contact that the sync job created
	list     lists.List
	client   access.Client
	apiKey   access.APIKey
	replay   replay.Key
	token    replay.Token
	confirms string
	member   members.Member
	grant    access.Grant
	refresh  access.RefreshToken
	code     access.AuthorizationCode
	session  people.Session
	blocked  string
	invited  members.Invitation
	channel  channels.Channel
	managed  templates.ManagedTemplate
	tracking channels.TrackingDomain
	request  sending.AccessRequest
	activity activities.Activity
	property activities.Property
	segment  segments.Segment
	tag      tags.Tag
	sender   senders.Claim
	sent     broadcasts.Broadcast
	endpoint webhooks.Endpoint
	delivery webhooks.Delivery
	approval approvals.Approval
	bucket   string // id of the bucket with received mail
	inbox    inboxes.Inbox
	journey  ownedJourney
	received ownedMail
	arrived  ownedFile
	measured ownedDomain
	noticed  notices.Notice
	image    assets.Saved
}

// remembered returns the idempotency key of a call that the owner has completed.
func (o ownedObjects) remembered() replay.Key {
	return replay.Key{OrgID: o.org, Space: "derived:x", Key: "k"}
}

func own(t *testing.T, db *storage.DB) ownedObjects {
	t.Helper()
	ctx, external := t.Context(), "crm-1"
	o := ownedObjects{org: newOrg(t, db), contact: newContact("same@x"), list: newList("same"), confirms: "confirmation"}
	o.contact.ExternalID, o.contact.Attributes = &external, map[string]any{"plan": "pro"}
	o.contact.TopicPreferences = []topics.Preference{prefer("news", sending.OptIn)}
	o.client = access.Client{ID: core.NewID(), ClientID: "oc_" + o.org, OrgID: o.org, Environment: core.Live, CreatedAt: start, Scopes: core.Scopes{}}
	o.apiKey = access.APIKey{ID: core.NewID(), OrgID: o.org, Environment: core.Live, Prefix: o.org[28:], SecretHash: []byte{1}, CreatedAt: start, Scopes: core.Scopes{}}
	o.replay = replay.Key{OrgID: o.org, Space: "rest:x", Key: "k"}

	store := db.Contacts()
	must(t, db.Clients().InsertClient(ctx, o.client))
	must(t, db.Keys().InsertAPIKey(ctx, o.apiKey))
	must(t, db.Audit().AppendAudit(ctx, access.AuditEvent{ID: core.NewID(), OrgID: o.org, OccurredAt: start, Detail: "{}"}))
	must(t, store.InsertContact(ctx, o.org, o.contact))
	_, _, err := db.Subscribers().MirrorConsent(ctx, o.org, []sending.Contact{{Email: "shell@x"}}, start, start)
	must(t, err)
	o.shell, err = store.ContactByEmail(ctx, o.org, "shell@x")
	must(t, err)
	must(t, db.Lists().InsertList(ctx, o.org, o.list))
	must(t, db.Attributes().InsertAttribute(ctx, o.org, attributes.Attribute{ID: core.NewID(), Name: "plan", Type: attributes.String, CreatedAt: start, UpdatedAt: start}))
	must(t, db.Topics().ReplaceTopics(ctx, o.org, []sending.Topic{{Name: "news", Default: sending.OptIn}}, start))
	must(t, db.TopicSync().SaveContactList(ctx, o.org, topics.ContactList{Name: "main", LastSyncedAt: start, CreatedAt: start, UpdatedAt: start}))
	_, _, err = db.ListMembers().ReplaceMembership(ctx, o.org, o.contact.ID, []string{o.list.ID}, start)
	must(t, err)
	record, won, err := db.Replay().Reserve(ctx, o.replay, replay.Claim{Digest: "digest"}, start)
	must(t, err)
	if !won {
		t.Fatal("a fresh key was not won")
	}
	o.token = record.Token
	done, _, err := db.Replay().Reserve(ctx, o.remembered(), replay.Claim{Digest: "digest"}, start)
	must(t, err)
	must(t, db.Replay().Complete(ctx, o.remembered(), done.Token, replay.Outcome{Result: []byte("{}"), Expires: later(600), Caller: "caller", Subject: "subject"}))
	_, err = db.Replay().Spend(ctx, o.org, o.confirms, later(600))
	must(t, err)
	o.ownVisitor(t, db)
	o.ownBulk(t, db)
	o.ownPeople(t, db)
	o.ownConnection(t, db)
	o.ownReports(t, db)
	o.ownSegments(t, db)
	o.ownChannels(t, db)
	o.ownTags(t, db)
	o.ownSender(t, db)
	o.ownBuckets(t, db)
	o.ownMessage(t, db)
	o.ownActivity(t, db)
	o.ownBroadcast(t, db)
	o.ownWebhook(t, db)
	o.ownInbox(t, db)
	o.ownApproval(t, db)
	o.ownWorkflow(t, db)
	o.ownReceiving(t, db)
	o.ownFile(t, db)
	o.ownMeasured(t, db)
	o.ownNotice(t, db)
	o.ownAssets(t, db)
	return o
}

// state returns data that the organization in o can read, from the stores that the tests
// call, so that two states can be compared.
func (o ownedObjects) state(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), db.Contacts()
	var seen []any
	see := func(value any, err error) {
		t.Helper()
		must(t, err)
		seen = append(seen, value)
	}
	c, err := store.ContactByID(ctx, o.org, o.contact.ID)
	see(c, err)
	shell, err := store.ContactByID(ctx, o.org, o.shell.ID)
	see(shell, err)
	page, err := store.Contacts(ctx, o.org, contacts.ContactFilter{Topic: "news", Limit: 10})
	see(page, err)
	on, err := db.ListMembers().ContactLists(ctx, o.org, o.contact.ID)
	see(on, err)
	listed, err := db.Lists().Lists(ctx, o.org, lists.Filter{Limit: 10})
	see(listed, err)
	attributes, err := db.Attributes().Attributes(ctx, o.org)
	see(attributes, err)
	mirrored, err := db.Topics().Topics(ctx, o.org)
	see(mirrored, err)
	header, err := db.TopicSync().ContactList(ctx, o.org)
	see(header, err)
	org, err := db.Orgs().Org(ctx, o.org)
	see(org, err)
	client, err := db.Clients().Client(ctx, o.client.ClientID)
	see(client, err)
	keys, err := db.Keys().APIKeys(ctx, core.Live, o.apiKey.Prefix)
	see(keys, err)
	audit, err := db.Audit().FindAudit(ctx, o.org, access.AuditFilter{Limit: 10})
	see(audit, err)
	record, _, err := db.Replay().Reserve(ctx, o.replay, replay.Claim{Digest: "digest"}, start)
	see(record, err)
	remembered, _, err := db.Replay().Reserve(ctx, o.remembered(), replay.Claim{Digest: "digest"}, start)
	see(remembered, err)
	grants, err := db.Grants().Grants(ctx, o.org, access.GrantFilter{Limit: 10})
	see(grants, err)
	token, used, err := db.Tokens().PeekRefreshToken(ctx, o.refresh.Hash)
	see(token, err)
	members, err := db.Members().Members(ctx, o.org)
	see(members, err)
	invitations, err := db.Invitations().Invitations(ctx, o.org)
	see(invitations, err)
	session, err := db.Sessions().Session(ctx, o.session.Hash, start)
	see(session, err)
	blocked, err := db.OpenClients().BlockedClients(ctx, o.org)
	see(blocked, err)
	connection, err := db.Connections(masterKey(t, 1)).Connection(ctx, o.org)
	see(connection, err)
	seen = append(seen, o.membershipState(t, db)...)
	seen = append(seen, o.bulkState(t, db)...)
	seen = append(seen, o.reportsState(t, db)...)
	seen = append(seen, o.segmentState(t, db)...)
	seen = append(seen, o.channelState(t, db)...)
	seen = append(seen, slices.Concat(o.tagState(t, db), o.senderState(t, db), o.bucketState(t, db), o.activityState(t, db), o.broadcastState(t, db))...)
	seen = append(seen, o.webhookState(t, db)...)
	seen = append(seen, o.inboxState(t, db)...)
	seen = append(seen, slices.Concat(o.workflowState(t, db), o.receivingState(t, db), o.fileState(t, db), o.measuredState(t, db), o.noticeState(t, db), o.assetState(t, db))...)
	message, err := db.Messages().Message(ctx, o.org, "same")
	see(message, err)
	happened, err := db.Messages().MessageEvents(ctx, o.org, "same")
	see(happened, err)
	return append(seen, used)
}

// storeCalls returns, by store method, calls that the organization org makes with the ids
// and names of another organization's objects, o. Each call must find nothing. The test
// compares o's state before and after, to see whether a call changed anything.
func storeCalls(o ownedObjects, org string) map[string]storeCall {
	all := map[string]storeCall{}
	for _, some := range []map[string]storeCall{peopleCalls(o, org), keyCalls(o, org), grantCalls(o, org), blockCalls(o, org), memberCalls(o, org), invitationCalls(o, org), audienceCalls(o, org), listMemberCalls(o, org), replayCalls(o, org), connectionCalls(org), consentCalls(org), reportCalls(org), channelCalls(o, org), templateCalls(o, org), deployCalls(o, org), tagCalls(o, org), senderCalls(o, org), bucketCalls(o, org), messageCalls(org), membershipCalls(o, org), siteCalls(o, org), retentionCalls(org), bundleCalls(o, org), gitCalls(o, org), attributeCalls(o, org), bulkCalls(o, org), activityCalls(o, org), summaryCalls(o, org), segmentCalls(o, org), answerCalls(o, org), changeCalls(o, org), broadcastCalls(o, org), recipientCalls(o, org), limitCalls(org), webhookCalls(o, org), inboxCalls(o, org), approvalCalls(o, org), workflowCalls(o, org), runCalls(o, org), timerCalls(o, org), mailCalls(o, org), receivingCalls(o, org), receivedCalls(o, org), fileCalls(o, org), measuringCalls(o, org), domainAuthCalls(o, org), reportIntakeCalls(o, org), noticeCalls(o, org), assetCalls(o, org)} {
		maps.Copy(all, some)
	}
	return all
}

type storeCall = func(*testing.T, *storage.DB) (any, error)

func audienceCalls(o ownedObjects, org string) map[string]storeCall {
	changed := o.contact
	changed.Email = "stolen@x"
	return map[string]storeCall{
		"ContactByEmail": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Contacts().ContactByEmail(t.Context(), org, o.contact.Email)
		},
		"ContactByExternalID": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Contacts().ContactByExternalID(t.Context(), org, "crm-1")
		},
		"ContactByID": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Contacts().ContactByID(t.Context(), org, o.contact.ID)
		},
		"contacts.Store.Contacts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Contacts().Contacts(t.Context(), org, contacts.ContactFilter{Topic: "news", Limit: 10})
		},
		"UpdateContact": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Contacts().UpdateContact(t.Context(), org, changed)
		},
		"contacts.Store.DropShell": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Contacts().DropShell(t.Context(), org, o.shell.ID)
		},
		"Lists": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Lists().Lists(t.Context(), org, lists.Filter{Limit: 10})
		},
		"CountLists": func(t *testing.T, db *storage.DB) (any, error) { return db.Lists().CountLists(t.Context(), org, "") },
		"ListsByRef": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Lists().ListsByRef(t.Context(), org, []string{o.list.ID, o.list.Key})
		},
		"Attributes": func(t *testing.T, db *storage.DB) (any, error) { return db.Attributes().Attributes(t.Context(), org) },
		"AttributePage": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Attributes().AttributePage(t.Context(), org, nil, 10)
		},
		"Topics": func(t *testing.T, db *storage.DB) (any, error) { return db.Topics().Topics(t.Context(), org) },
		"ReplaceTopics": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Topics().ReplaceTopics(t.Context(), org, nil, later(1))
		},
		"topics.SyncStore.ContactList": func(t *testing.T, db *storage.DB) (any, error) { return db.TopicSync().ContactList(t.Context(), org) },
		"SubscriberByID": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Subscribers().SubscriberByID(t.Context(), org, o.contact.ID)
		},
		"SubscriberByEmail": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Subscribers().SubscriberByEmail(t.Context(), org, o.contact.Email)
		},
		"MirrorConsent": func(t *testing.T, db *storage.DB) (any, error) {
			page := []sending.Contact{{Email: o.contact.Email, UnsubscribeAll: true}}
			got, _, err := db.Subscribers().MirrorConsent(t.Context(), org, page, later(9), later(9))
			return got.Updated, err
		},
	}
}

func replayCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"Complete": func(t *testing.T, db *storage.DB) (any, error) {
			key := o.replay
			key.OrgID = org
			return nil, db.Replay().Complete(t.Context(), key, o.token, replay.Outcome{Result: []byte("{}"), Expires: later(60)})
		},
		"Release": func(t *testing.T, db *storage.DB) (any, error) {
			key := o.replay
			key.OrgID = org
			return nil, db.Replay().Release(t.Context(), key, o.token)
		},
		"replay.Store.Reserve": func(t *testing.T, db *storage.DB) (any, error) {
			key := o.replay
			key.OrgID = org
			_, won, err := db.Replay().Reserve(t.Context(), key, replay.Claim{Digest: "digest"}, start)
			return !won, err // The same idempotency key is free in another organization, so Reserve must succeed.
		},
		"Spend": func(t *testing.T, db *storage.DB) (any, error) {
			fresh, err := db.Replay().Spend(t.Context(), org, o.confirms, later(60))
			return !fresh, err
		},
		"Supersede": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Replay().Supersede(t.Context(), org, "caller", []string{"subject"})
		},
		"SupersedeAll": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Replay().SupersedeAll(t.Context(), org, "caller")
		},
	}
}

func TestOrganizationsNeverSeeEachOther(t *testing.T) {
	t.Parallel()
	derivable := derivableMethods(t)
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := own(t, db)
		before := o.state(t, db)
		intrusions := func(org string) map[string]storeCall {
			all := storeCalls(o, org)
			maps.Copy(all, derivedCalls(derivable, o, org))
			return all
		}
		// The intruders have no rows. To read the state takes long, so it is read after some calls.
		for methods := range slices.Chunk(slices.Sorted(maps.Keys(intrusions(""))), 40) {
			for _, method := range methods {
				if found, err := intrusions(core.NewID())[method](t, db); err == nil && !isNothing(found) {
					t.Errorf("%s found %v", method, found)
				}
			}
			if diff := cmp.Diff(before, o.state(t, db)); diff != "" {
				t.Errorf("one of %v changed the owner's (-before +after):\n%s", methods, diff)
				before = o.state(t, db)
			}
		}
		// Names are unique only within an organization, so a second organization can have
		// objects with the same names.
		second := own(t, db)
		if diff := cmp.Diff(before, o.state(t, db)); diff != "" {
			t.Errorf("a second organization changed the first (-before +after):\n%s", diff)
		}
		if got, err := db.Contacts().ContactByEmail(t.Context(), second.org, "same@x"); err != nil || got.ID != second.contact.ID {
			t.Errorf("the second finds %s, %v", got.ID, err)
		}
	})
}

func isNothing(found any) bool {
	if found == nil {
		return true
	}
	v := reflect.ValueOf(found)
	return v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// exempt lists the store methods that need no call as another organization. Some only
// insert rows for the given organization. Others find a record by the organization's own
// id, by a globally unique key or by the hash of a secret. The rest concern users, keys and
// clients that belong to no organization, or work for all organizations. If several stores
// have a method of the name, the entry begins with the store.
var exempt = []string{
	"InsertOrg", "Org", "OrgBySlug", "OrgIDs", "SetRateLimit", "InsertUser", "UserByEmail", "AddMember",
	"InsertClient", "Client", "InsertAPIKey", "APIKeys", "InsertSigningKey", "SigningKeys", "RotateSigningKey", "HoldSigningKeys", "ReplaceSigningKeys", "PurgeSigningKeys", "AppendAudit",
	"InsertContact", "InsertList", "InsertAttribute", "PassesDue", "SaveContactList", "ReplaceMembership", "Purge", "DeleteServerJobs",
	"APIKeysPastGrace", // returns keys of all organizations
	"InsertGrant", "InsertCode", "RedeemCode", "InsertRefreshToken", "PeekRefreshToken",
	"DenyToken", "PurgeGrants",
	"InsertSession", "Session", "TouchSession", "DeleteSession", "DeleteSessionsOf", "DeleteOtherSessionsOf", "PurgeSessions",
	"SaveDocumentClient", "UnusedDynamicClients", "PurgeDynamicClients", // clients that belong to no organization
	"HoldUser", "SetAuthenticatorApp", "AuthenticatorApp", "UseStep", "DeleteAuthenticatorApp",
	"SetRecoveryCodes", "UseRecoveryCode", "RecoveryCodesLeft",
	"InsertPasskey", "Passkeys", "PasskeyByCredential", "SetPasskey", "DeletePasskey", "DeletePasskeysOf",
	"InsertCeremony", "TakeCeremony", "PurgeCeremonies",
	"MembershipsOf", "OrganizationsOf", "UserByID", "SetPassword", "HoldMembers", "InsertInvitation", "InvitationByHash", "SetOrgSettings",
	"InsertRequest", "InsertManaged", "InsertSiteKey", "AllSiteKeys", "PurgeSiteCounts",
	"SaveConnection", "ConnectionByIngestPath", // exempt because an ingest path is unique over all organizations
	"activities.Store.Insert", "broadcasts.Store.Insert", "approvals.Store.Insert", "InsertEndpoint", "AddDeliveries", "InsertProperty", "EmailKey",
	"CountDays", "CountHours", "CountBounces",
	"InsertSegment", "segments.ChangeStore.Touch",
	"Open", // returns the broadcasts of all organizations that a dispatcher starts or drives
	"workflows.Store.Insert",
	"InsertConnection", "ConnectedOrgs", "OrgsOf", // insert for the given organization, or return organizations for a job or a webhook
	"InsertInbox", "SetDisabled", "AddReceived", "AddToken",
	"AddFiles",                  // inserts rows for the given organization
	"TokenDomain", "ClaimFiles", // find a domain by its token, and the files of all organizations that are due
	"inboxes.Store.Address", "InboxByToken", // find an inbox by its address and by the hash of a secret
	"Busy", "Touched", "OpenSends", // return the workflows, organizations and sends of all organizations that have work
	"DomainsToPoll", "DomainsToRefresh", // return domains of all organizations
	"DueDigests", "DomainsWithNews", "DueNotices", "AddNotice", // the same of digests, news and mails; the last inserts a row for the given organization
	"WriteContacts", // tested by several calls in the function storeCalls, such as "WriteContacts update"
}

// stores lists the store interfaces whose methods TestOrganizationsNeverSeeEachOther calls
// as another organization.
var stores = []reflect.Type{
	reflect.TypeFor[access.KeyStore](), reflect.TypeFor[access.ClientStore](), reflect.TypeFor[access.OpenClientStore](),
	reflect.TypeFor[access.GrantStore](), reflect.TypeFor[access.TokenStore](), reflect.TypeFor[access.AuditStore](), reflect.TypeFor[signing.Store](),
	reflect.TypeFor[people.UserStore](), reflect.TypeFor[people.SessionStore](), reflect.TypeFor[people.FactorStore](), reflect.TypeFor[people.PasskeyStore](),
	reflect.TypeFor[members.OrgStore](), reflect.TypeFor[members.Store](), reflect.TypeFor[members.InvitationStore](), reflect.TypeFor[contacts.Store](), reflect.TypeFor[contacts.SearchStore](), reflect.TypeFor[visitorids.Store](), siteStore, retentionStore, bundleStore, gitStore, adoptionStore, assetStore, reflect.TypeFor[contacts.NoteStore](),
	reflect.TypeFor[bulk.JobStore](), reflect.TypeFor[bulk.ContactStore](), reflect.TypeFor[bulk.PushStore](), reflect.TypeFor[topics.ContactCounter](),
	reflect.TypeFor[attributes.Store](), reflect.TypeFor[attributes.PassStore](), reflect.TypeFor[lists.Store](), reflect.TypeFor[lists.MemberStore](),
	reflect.TypeFor[topics.Store](), reflect.TypeFor[topics.SyncStore](), reflect.TypeFor[topics.SubscriberStore](), reflect.TypeFor[replay.Store](),
	reflect.TypeFor[sending.Connections](), consentStore, reflect.TypeFor[channels.Store](), reflect.TypeFor[templates.Store](), reflect.TypeFor[templates.ManagedStore](), reflect.TypeFor[sending.AccessRequests](),
	reflect.TypeFor[messages.Store](), reflect.TypeFor[reports.Store](), reflect.TypeFor[activities.Store](), reflect.TypeFor[activities.PropertyStore](), reflect.TypeFor[activities.Purger](),
	reflect.TypeFor[segments.Store](), reflect.TypeFor[segments.MemberStore](), reflect.TypeFor[segments.SubjectStore](), reflect.TypeFor[segments.ChangeStore](),
	reflect.TypeFor[broadcasts.Store](), reflect.TypeFor[broadcasts.OpenStore](), reflect.TypeFor[broadcasts.AudienceStore](), reflect.TypeFor[testsends.Store](),
	reflect.TypeFor[handover.Store](), reflect.TypeFor[handover.LimitStore](), reflect.TypeFor[handover.OutcomeStore](),
	reflect.TypeFor[inboxes.Store](), reflect.TypeFor[inboxes.MessageStore](), reflect.TypeFor[inboxes.DeliveryStore](), reflect.TypeFor[inboxes.TokenStore](),
	reflect.TypeFor[webhooks.Store](), reflect.TypeFor[approvals.Store](), reflect.TypeFor[approvals.PolicyStore](),
	reflect.TypeFor[workflows.Store](), reflect.TypeFor[workflows.RunStore](), reflect.TypeFor[workflows.HoldStore](), reflect.TypeFor[workflows.TimerStore](),
	reflect.TypeFor[measuring.PollStore](), reflect.TypeFor[measuring.RefreshStore](), reflect.TypeFor[measuring.PurgeStore](),
	reflect.TypeFor[notices.SubscriptionStore](), reflect.TypeFor[notices.DigestStore](), reflect.TypeFor[notices.AlertStore](), reflect.TypeFor[notices.NoticeStore](), reflect.TypeFor[arrivals.RouteStore](), reflect.TypeFor[arrivals.FileStore](), reflect.TypeFor[arrivals.Queue](), reflect.TypeFor[arrivals.DeskStore](), reflect.TypeFor[arrivals.PurgeStore](),
	reflect.TypeFor[domainauth.Store](), reflect.TypeFor[domainauth.FigureStore](), reflect.TypeFor[domainauth.SourceStore](), reflect.TypeFor[domainauth.TimelineStore](), reflect.TypeFor[intake.Store](),
	reflect.TypeFor[workflows.EntryStore](), reflect.TypeFor[workflows.ChangeStore](), reflect.TypeFor[workflows.MailStore](),
}

// notListed returns the store methods that are missing in both places: the function
// storeCalls does not call them, and the list exempt does not name them.
func notListed() []storeMethod {
	listed := storeCalls(ownedObjects{org: "x"}, "y")
	var missing []storeMethod
	for _, store := range stores {
		for i := range store.NumMethod() {
			m := storeMethod{store, store.Method(i).Name}
			if !m.isIn(listed) && !slices.Contains(exempt, m.name) && !slices.Contains(exempt, m.String()) {
				missing = append(missing, m)
			}
		}
	}
	return missing
}

// isIn reports whether one of the calls is of the method. Its name alone counts if no other
// store has a method of that name; otherwise the key is the store and the name, such as
// "contacts.Store.DropShell".
func (m storeMethod) isIn(calls map[string]storeCall) bool {
	if _, ok := calls[m.String()]; ok {
		return true
	}
	_, ok := calls[m.name]
	return ok && len(storesWith(m.name)) == 1
}

// storesWith returns the stores that have a method of this name.
func storesWith(name string) []reflect.Type {
	return slices.DeleteFunc(slices.Clone(stores), func(store reflect.Type) bool { _, has := store.MethodByName(name); return !has })
}

// TestStoreCallsCoverEveryMethod checks every store method with an organization argument.
// The function storeCalls must call it, the list exempt must name it, or derivedCalls must
// generate a call. No store may be listed twice. A method name in exempt must belong to
// exactly one store, because it would otherwise exempt methods of other stores too. A key
// of storeCalls must include the store if several stores have a method of the name.
func TestStoreCallsCoverEveryMethod(t *testing.T) {
	t.Parallel()
	for i, store := range stores {
		if slices.Contains(stores[:i], store) {
			t.Errorf("the list stores names %s twice", store)
		}
	}
	for _, name := range exempt {
		having := storesWith(name)
		if isOf := func(store reflect.Type) bool { return strings.HasPrefix(name, store.String()+".") }; slices.ContainsFunc(stores, isOf) {
			having = storesWith(name[strings.LastIndexByte(name, '.')+1:])
			having = slices.DeleteFunc(having, func(store reflect.Type) bool { return !isOf(store) })
		}
		if len(having) != 1 {
			t.Errorf("the list exempt names %s, a method of the stores %v, want one store", name, having)
		}
	}
	for key := range storeCalls(ownedObjects{org: "x"}, "y") {
		name, _, _ := strings.Cut(key, " ")
		if having := storesWith(name); len(having) > 1 {
			t.Errorf("storeCalls names %s, a method of the stores %v: write which, such as %q", name, having, storeMethod{having[0], name})
		}
	}
	derivableMethods(t)
}
