package serve

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/dispatch"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/testsends"
	approvalpages "github.com/mailhelm/mailhelm/rest/dashboard/approvals"
)

// newHandover returns the one way in which mail of organizations leaves.
func newHandover(cfg config.Config, s *stores, of *account.Account, recorded *messages.Messages) *handover.Handover {
	sent := outgoing.SentEvents{Accounts: s.accounts, Events: messages.NewBatch(recorded), Log: cfg.Log}
	return handover.New(handover.Config{
		Store: s.db.Handover(), Limits: s.db.HandoverLimits(), Transactor: s.db, Account: s.accounts, Accepted: sent.Record, Rate: of.SendRate, ErasedAddresses: s.erased.Addresses,
		Wait: outgoing.WaitUntil(cfg.Clock), Process: s.process.ID(), Clock: cfg.Clock, Log: cfg.Log,
	})
}

// newTestSends returns the value that sends tests of broadcasts and templates.
func newTestSends(cfg config.Config, s *stores, steps *handover.Handover) *testsends.Sends {
	return testsends.New(testsends.Config{
		Store: s.db.TestSends(), Recipients: s.db.Handover(), Steps: steps, Transactor: s.db, Wait: outgoing.WaitUntil(cfg.Clock), Clock: cfg.Clock, Log: cfg.Log,
	})
}

// newBroadcasts returns the value that sends broadcasts. wake lets the dispatcher of this
// process look for work.
func newBroadcasts(cfg config.Config, s *stores, parts broadcastParts) *broadcasts.Broadcasts {
	return broadcasts.New(broadcasts.Config{
		Store: s.db.Broadcasts(), Audience: s.db.Audiences(), Outcomes: s.db.Outcomes(), Transactor: s.db,
		Audiences: outgoing.Audiences{Lists: s.db.Lists(), Segments: s.db.Segments()}, Topics: outgoing.Topics{Store: s.db.Topics()}, Templates: parts.templates,
		Senders: outgoing.Senders{Store: s.db.Channels(), Orgs: s.db.Orgs()}, Registry: outgoing.Attributes{Store: s.db.Attributes()}, Links: parts.links,
		Finish: parts.finish, RefreshSuppressions: parts.segments.RefreshSuppressed, Wake: parts.wake, Approvals: parts.approvals,
		Clock: cfg.Clock, Log: cfg.Log,
	})
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

// newDispatcher returns the dispatcher of broadcasts of this process.
func newDispatcher(cfg config.Config, s *stores, of *broadcasts.Broadcasts) *dispatch.Dispatcher {
	return dispatch.New(dispatch.Config{
		Sends: of, Store: s.db.Broadcasts(), Open: s.db.OpenBroadcasts(), Outcomes: s.db.Outcomes(), Steps: s.handover, Transactor: s.db,
		Wait: outgoing.WaitUntil(cfg.Clock), Clock: cfg.Clock, Log: cfg.Log,
	})
}

// dispatch starts the dispatcher of broadcasts of this process. The returned function stops
// it, and waits until the calls of sending accounts that it has begun have ended.
func (s *stores) dispatch() func() {
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(dispatch.LookEvery)
	var running sync.WaitGroup
	running.Go(func() { s.dispatcher.Follow(ctx, ticker.C) })
	return func() {
		ticker.Stop()
		cancel()
		running.Wait()
	}
}
