package notices

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Desk is where members turn mails to themselves on and off. It does not check permissions:
// callers do. All fields are required.
type Desk struct {
	Store      SubscriptionStore
	Transactor core.Transactor
	Audit      access.AuditAppender
	Clock      core.Clock
}

// Choice is what a member wants to be mailed about a domain.
type Choice struct {
	Digest bool `json:"digest"`
	Alerts bool `json:"alerts"`
}

// choiceOf returns the choice that led to a subscription.
func choiceOf(s Subscription) Choice { return Choice{Digest: s.DigestAt != nil, Alerts: s.Alerts} }

// choiceDetail is the detail of the audit entry of a choice.
type choiceDetail struct {
	Domain string `json:"domain"`
	Choice
}

// Choice returns what a member chose for a domain.
func (k Desk) Choice(ctx context.Context, userID string, d Ref) (Choice, error) {
	s, err := k.Store.Subscription(ctx, d.OrgID, d.DomainID, userID)
	return choiceOf(s), err
}

// Choose stores what a member chose for a domain, with an entry in the audit log if it changes
// something. The first digest is that of the next Monday.
func (k Desk) Choose(ctx context.Context, member access.Actor, d Ref, c Choice) error {
	return k.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := k.Clock()
		s, err := k.Store.Subscription(ctx, d.OrgID, d.DomainID, member.ID)
		if err != nil || choiceOf(s) == c {
			return err
		}
		s.Alerts = c.Alerts
		switch {
		case !c.Digest:
			s.DigestAt = nil
		case s.DigestAt == nil:
			next := nextDigest(now)
			s.DigestAt = &next
		}
		if err := k.Store.SaveSubscription(ctx, d.OrgID, d.DomainID, member.ID, s); err != nil {
			return err
		}
		return access.RecordAudit(ctx, k.Audit, now, access.AuditEntry{
			Actor: member, Action: "domain_notices.chosen", OrgID: d.OrgID, Subject: d.DomainID, Detail: choiceDetail{d.Domain, c},
		})
	})
}

// digestHour is the hour (UTC) of Mondays at which digests become due.
const digestHour = 6

// nextDigest returns the first Monday morning after a time.
func nextDigest(now time.Time) time.Time {
	now = now.UTC()
	monday := time.Date(now.Year(), now.Month(), now.Day()+(int(time.Monday)-int(now.Weekday())+7)%7, digestHour, 0, 0, 0, time.UTC)
	if !monday.After(now) {
		monday = monday.AddDate(0, 0, 7)
	}
	return monday
}
