package serve

import (
	"context"
	"net/mail"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/testsends"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	approvalpages "github.com/mailhelm/mailhelm/rest/dashboard/approvals"
)

// newHandover returns the one way in which mail of organizations leaves.
func newHandover(cfg config.Config, s *stores, of *account.Account, recorded *messages.Messages) *handover.Handover {
	through := outgoing.SentEvents{Accounts: s.accounts, Events: messages.NewBatch(recorded), Clock: cfg.Clock, Log: cfg.Log}
	return handover.New(handover.Config{
		Store: s.db.Handover(), Limits: s.db.HandoverLimits(), Transactor: s.db, Account: through, Rate: of.SendRate,
		Wait: waitUntil(cfg.Clock), Process: s.process.ID(), Clock: cfg.Clock, Log: cfg.Log,
	})
}

// waitUntil returns a function that waits until the clock has a time, or until its context
// ends.
func waitUntil(clock core.Clock) func(ctx context.Context, until time.Time) {
	return func(ctx context.Context, until time.Time) {
		d := until.Sub(clock())
		if d <= 0 {
			return
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// newTestSends returns the value that sends tests of broadcasts and templates.
func newTestSends(cfg config.Config, s *stores, steps *handover.Handover) *testsends.Sends {
	return testsends.New(testsends.Config{
		Store: s.db.TestSends(), Recipients: s.db.Handover(), Steps: steps, Transactor: s.db, Wait: waitUntil(cfg.Clock), Clock: cfg.Clock, Log: cfg.Log,
	})
}

// audiences finds lists and segments; it is a [broadcasts.Audiences].
type audiences struct {
	lists    lists.Store
	segments segments.Store
}

// Audience returns the list or segment, unless it is archived.
func (a audiences) Audience(ctx context.Context, orgID string, kind broadcasts.AudienceKind, ref string) (broadcasts.Audience, error) {
	if kind == broadcasts.List {
		found, err := a.lists.List(ctx, orgID, ref)
		if err == nil && found.Status != listActive {
			err = core.NotFound("list")
		}
		return broadcasts.Audience{Kind: kind, ID: found.ID, Name: found.Name}, err
	}
	found, err := a.segments.Segment(ctx, orgID, ref)
	if err == nil && found.Status == segments.Archived {
		err = core.NotFound("segment")
	}
	return broadcasts.Audience{Kind: kind, ID: found.ID, Name: found.Name, Warning: segmentWarning(found)}, err
}

// listActive is the status of a list that is not archived.
const listActive = "active"

// segmentWarning says why the members of a segment may not be up to date, "" for no reason.
func segmentWarning(s segments.Segment) string {
	switch {
	case s.Status == segments.Paused:
		return "The segment is paused, so its members are those of the time when it was paused."
	case s.Status == segments.Invalid:
		return "The predicate of the segment is invalid, so its members are those of the time before."
	case s.LastEvaluatedAt == nil:
		return "The segment was not evaluated yet, so it has no members. That takes some seconds after it was saved."
	}
	return ""
}

// topicNames finds topics in the copy of the account's topics; it is a [broadcasts.Topics].
type topicNames struct{ store topics.Store }

// Topic returns the display name of a topic that is not archived.
func (n topicNames) Topic(ctx context.Context, orgID, name string) (string, error) {
	all, err := n.store.Topics(ctx, orgID)
	if err != nil {
		return "", err
	}
	for _, t := range all {
		if t.Name == name && t.Status == topicActive {
			return t.DisplayName, nil
		}
	}
	return "", core.NotFound("topic")
}

// topicActive is the status of a topic that is not archived.
const topicActive = "active"

// senderIdentities knows the verified identities; it is a [broadcasts.Senders].
type senderIdentities struct {
	store channels.Store
	orgs  interface {
		Org(ctx context.Context, id string) (core.Org, error)
	}
}

// maxIdentities is the number of identities among which the default sender is searched.
const maxIdentities = 200

// IsVerified reports whether the address or its domain is a verified identity.
func (s senderIdentities) IsVerified(ctx context.Context, orgID, address string) (bool, error) {
	key := strings.ToLower(address)
	for _, identity := range []string{key, key[strings.LastIndexByte(key, '@')+1:]} {
		found, err := s.store.Identity(ctx, orgID, identity)
		if err == nil && found.Verification == sending.Success {
			return true, nil
		}
		if err != nil && !core.IsNotFound(err) {
			return false, err
		}
	}
	return false, nil
}

// Default returns no-reply at the domain that was verified first, with the name of the
// organization.
func (s senderIdentities) Default(ctx context.Context, orgID string) (string, error) {
	all, err := s.store.Identities(ctx, orgID, nil, maxIdentities)
	if err != nil {
		return "", err
	}
	for i := len(all) - 1; i >= 0; i-- { // they are newest first
		if all[i].Type == channels.DomainIdentity && all[i].Verification == sending.Success {
			org, err := s.orgs.Org(ctx, orgID)
			from := mail.Address{Name: org.Name, Address: "no-reply@" + strings.ToLower(all[i].Identity)}
			return from.String(), err
		}
	}
	return "", nil
}

// marketingChannel is the slug of the channel for broadcasts.
const marketingChannel = "marketing"

// Channel returns the configuration set of the channel marketing if it is in use, else "".
func (s senderIdentities) Channel(ctx context.Context, orgID string) (string, error) {
	found, err := s.store.Channel(ctx, orgID, channels.ChannelKey{Slug: marketingChannel})
	if core.IsNotFound(err) || err == nil && found.Status != channels.Active {
		return "", nil
	}
	return found.Name, err
}

// newBroadcasts returns the value that sends broadcasts. wake lets the dispatcher of this
// process look for work.
func newBroadcasts(cfg config.Config, s *stores, parts broadcastParts) *broadcasts.Broadcasts {
	return broadcasts.New(broadcasts.Config{
		Store: s.db.Broadcasts(), Audience: s.db.Audiences(), Outcomes: s.db.Outcomes(), Transactor: s.db,
		Audiences: audiences{s.db.Lists(), s.db.Segments()}, Topics: topicNames{s.db.Topics()}, Templates: parts.templates,
		Senders: senderIdentities{s.db.Channels(), s.db.Orgs()}, Registry: attributeNames{s.db.Attributes()}, Links: parts.links,
		Finish: parts.finish, RefreshSuppressions: parts.segments.RefreshSuppressed, Wake: parts.wake, Approvals: parts.approvals,
		Clock: cfg.Clock, Log: cfg.Log,
	})
}

// sentTemplates reads the content of templates; it is a [broadcasts.Templates].
type sentTemplates struct{ templates *templates.Templates }

// Template returns the content of a version of a template.
func (t sentTemplates) Template(ctx context.Context, orgID, slug string, number int) (broadcasts.Template, error) {
	found, err := t.templates.Version(ctx, orgID, slug, number)
	return broadcasts.Template{Subject: found.Subject, HTML: found.HTML, Text: found.Text, Name: found.DeployedName}, err
}

// newestTemplate returns the function that reads the newest content of a template for a
// test.
func newestTemplate(t *templates.Templates) func(ctx context.Context, orgID, slug string) (sending.Template, string, error) {
	return func(ctx context.Context, orgID, slug string) (sending.Template, string, error) {
		found, err := t.Version(ctx, orgID, slug, 0)
		return found.Content(), found.DeployedName, err
	}
}

// unsubscribeLinks makes the links of recipients; it is a [broadcasts.Links].
type unsubscribeLinks struct{ links *unsubscribe.Links }

// Links returns the links of one recipient of a send.
func (l unsubscribeLinks) Links(orgID, contactID, topic, sendID string) (composition.Links, error) {
	link, err := l.links.For(orgID, unsubscribe.Recipient{ContactID: contactID, SendID: sendID, Topic: topic})
	if err != nil {
		return composition.Links{}, err
	}
	return composition.Links{Unsubscribe: link.Unsubscribe, Preferences: link.Preferences, Headers: link.Headers()}, nil
}

// broadcastParts has what broadcasts use of other domains.
type broadcastParts struct {
	templates broadcasts.Templates
	segments  *segments.Segments
	links     broadcasts.Links
	finish    func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error)
	wake      func()
	approvals broadcasts.Approvals
}

// newGate returns the value that holds back the sends for which a policy wants the approval
// of a person. app is the address of the dashboard.
func newGate(cfg config.Config, s *stores, app string) approving.Gate {
	return approving.Gate{
		Store: s.db.Approvals(), Policies: s.db.SendPolicies(), Audit: s.db.Audit(), Clock: cfg.Clock,
		PageURL: func(id string) string { return app + approvalpages.PathOf(id) },
	}
}

// dispatch starts the dispatcher of broadcasts of this process. The returned function stops
// it, and waits until the calls of sending accounts that it has begun have ended.
func (s *stores) dispatch(cfg config.Config, of *broadcasts.Broadcasts) func() {
	s.dispatcher = broadcasts.NewDispatcher(broadcasts.DispatcherConfig{
		Broadcasts: of, Open: s.db.OpenBroadcasts(), Steps: s.handover, Wait: waitUntil(cfg.Clock), Clock: cfg.Clock, Log: cfg.Log,
	})
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(broadcasts.LookEvery)
	var running sync.WaitGroup
	running.Go(func() { s.dispatcher.Follow(ctx, ticker.C) })
	return func() {
		ticker.Stop()
		cancel()
		running.Wait()
	}
}
