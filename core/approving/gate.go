package approving

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/broadcasts"
)

// Gate holds sends back for which a policy wants the approval of a person. It is a
// [broadcasts.Approvals]. All fields are required.
type Gate struct {
	Store    approvals.Store
	Policies approvals.PolicyStore
	Audit    access.AuditAppender
	// PageURL returns the address of the page on which a person decides about an approval.
	PageURL func(id string) string
	Clock   core.Clock
}

var _ broadcasts.Approvals = Gate{}

const (
	// growthShare and growthLeast bound how much an audience may grow between the approval of
	// a scheduled send and its start: by a tenth, or by ten members.
	growthShare = 10
	growthLeast = 10
)

// Needs reports whether a send by the caller with this preview would wait for a person.
func (g Gate) Needs(ctx context.Context, orgID string, by broadcasts.Author, to broadcasts.Target, p broadcasts.SendPreview) (bool, error) {
	all, err := g.Policies.Policies(ctx, orgID)
	if err != nil {
		return false, err
	}
	return holds(all, by, to, func() (int, error) { return p.AudienceSize, nil })
}

// holds reports whether a send to the target by the caller waits, by all policies of the
// organization.
func holds(all []approvals.Policy, by broadcasts.Author, to broadcasts.Target, size func() (int, error)) (bool, error) {
	return approvals.PolicyFor(all, callerOf(by)).Holds(to.AudienceKind == broadcasts.List, to.AudienceID, size)
}

// Hold returns the approval for which the send must wait. If the send may go, it voids the
// approval for which the broadcast waited and returns nil. For a scheduled send that may go,
// it also records who asked.
func (g Gate) Hold(ctx context.Context, orgID string, ask broadcasts.Ask) (*broadcasts.Approval, error) {
	all, err := g.Policies.Policies(ctx, orgID)
	if err != nil {
		return nil, err
	}
	waits, err := holds(all, ask.By, ask.Broadcast.Target, sizeOf(ctx, ask))
	switch {
	case err != nil:
		return nil, err
	case waits:
		return g.ask(ctx, orgID, ask)
	}
	if err := g.Void(ctx, orgID, ask.Broadcast.ID, broadcasts.VoidedBySend, ask.Now); err != nil || ask.At == nil {
		return nil, err
	}
	return nil, g.Store.Insert(ctx, orgID, approvals.Approval{
		ID: core.NewID(), BroadcastID: ask.Broadcast.ID, State: approvals.Unneeded, AskedBy: callerOf(ask.By), RequestedAt: ask.Now, ExpiresAt: ask.Now,
		Revision: ask.Broadcast.Revision, ScheduledAt: ask.At, DecidedAt: &ask.Now,
	})
}

// sizeOf returns a function that reads the size of the audience of a send.
func sizeOf(ctx context.Context, ask broadcasts.Ask) func() (int, error) {
	return func() (int, error) {
		p, err := ask.Preview(ctx)
		return p.AudienceSize, err
	}
}

// ask returns the approval that waits for the same send. If there is none, it stores one,
// and voids one that waits for another send of the broadcast.
func (g Gate) ask(ctx context.Context, orgID string, ask broadcasts.Ask) (*broadcasts.Approval, error) {
	preview, err := ask.Preview(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := DigestOf(ask.Broadcast, preview)
	if err != nil {
		return nil, err
	}
	waits, err := g.waiting(ctx, orgID, ask.Broadcast.ID, ask.Now)
	if err != nil {
		return nil, err
	}
	if waits != nil && waits.IsSame(digest, ask.At) && waits.Revision == ask.Broadcast.Revision {
		shown := g.view(*waits, ask.Now)
		return &shown, nil
	}
	if waits != nil {
		if err := g.end(ctx, orgID, *waits, voided(broadcasts.VoidedByAsking), access.System(), ask.Now); err != nil {
			return nil, err
		}
	}
	a := approvals.Approval{
		ID: core.NewID(), BroadcastID: ask.Broadcast.ID, State: approvals.Pending, AskedBy: callerOf(ask.By), RequestedAt: ask.Now, ExpiresAt: ask.Now.Add(approvals.Life),
		Revision: ask.Broadcast.Revision, ScheduledAt: ask.At, Digest: digest, Preview: Freeze(preview),
	}
	if err := g.Store.Insert(ctx, orgID, a); err != nil {
		return nil, err
	}
	shown := g.view(a, ask.Now)
	return &shown, g.record(ctx, orgID, a, "send.approval_requested", access.Actor{Kind: ask.By.Kind, ID: ask.By.ID}, ask.Now)
}

// waiting returns the approval for which a broadcast waits, nil for none. One that should
// have ended is ended first.
func (g Gate) waiting(ctx context.Context, orgID, broadcastID string, now time.Time) (*approvals.Approval, error) {
	latest, err := g.latest(ctx, orgID, broadcastID)
	if err != nil || latest == nil || latest.State != approvals.Pending {
		return nil, err
	}
	if latest.At(now).State == approvals.Expired {
		return nil, g.end(ctx, orgID, *latest, decision{State: approvals.Expired}, access.System(), now)
	}
	return latest, nil
}

// latest returns the latest approval of a broadcast, nil for none.
func (g Gate) latest(ctx context.Context, orgID, broadcastID string) (*approvals.Approval, error) {
	all, err := g.Store.Latest(ctx, orgID, []string{broadcastID})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// HoldStart compares a scheduled send with the policy of now and with what a person has
// approved. It asks in the name of the caller that scheduled the send.
func (g Gate) HoldStart(ctx context.Context, orgID string, ask broadcasts.Ask) (*broadcasts.Approval, error) {
	latest, err := g.latest(ctx, orgID, ask.Broadcast.ID)
	if err != nil || latest == nil || latest.State != approvals.Approved && latest.State != approvals.Unneeded {
		return nil, err
	}
	ask.By = authorOf(latest.AskedBy)
	all, err := g.Policies.Policies(ctx, orgID)
	if err != nil {
		return nil, err
	}
	waits, err := holds(all, ask.By, ask.Broadcast.Target, sizeOf(ctx, ask))
	if err != nil || !waits {
		return nil, err
	}
	if latest.State == approvals.Approved {
		covered, err := covers(ctx, *latest, ask)
		if err != nil || covered {
			return nil, err
		}
	}
	return g.ask(ctx, orgID, ask)
}

// covers reports whether an approval covers a send that starts now: its content and its
// audience are the approved ones, and the audience has not grown much.
func covers(ctx context.Context, a approvals.Approval, ask broadcasts.Ask) (bool, error) {
	preview, err := ask.Preview(ctx)
	if err != nil {
		return false, err
	}
	digest, err := DigestOf(ask.Broadcast, preview)
	return digest == a.Digest && preview.AudienceSize <= a.ApprovedSize+max(growthLeast, a.ApprovedSize/growthShare), err
}

// Void ends the approval for which the broadcast waits, if there is one.
func (g Gate) Void(ctx context.Context, orgID, broadcastID string, why broadcasts.VoidCause, now time.Time) error {
	waits, err := g.waiting(ctx, orgID, broadcastID, now)
	if err != nil || waits == nil {
		return err
	}
	return g.end(ctx, orgID, *waits, voided(why), access.System(), now)
}

// Latest returns the latest approval of each of the broadcasts that has one. A send that
// needed none has none.
func (g Gate) Latest(ctx context.Context, orgID string, broadcastIDs []string) (map[string]broadcasts.Approval, error) {
	all, err := g.Store.Latest(ctx, orgID, broadcastIDs)
	shown := make(map[string]broadcasts.Approval, len(all))
	for _, a := range all {
		if a.State != approvals.Unneeded {
			shown[a.BroadcastID] = g.view(a, g.Clock())
		}
	}
	return shown, err
}

// view returns an approval as callers see it.
func (g Gate) view(a approvals.Approval, now time.Time) broadcasts.Approval {
	a = a.At(now)
	shown := broadcasts.Approval{
		Status: string(a.State), RequestedAt: a.RequestedAt, ExpiresAt: a.ExpiresAt, DecidedAt: a.DecidedAt, URL: g.PageURL(a.ID), ScheduledAt: a.ScheduledAt,
	}
	if words := ReasonOf(a); words != "" {
		shown.Reason = &words
	}
	return shown
}
