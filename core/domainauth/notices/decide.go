package notices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/handover"
)

const (
	// newsDays is the number of days after which a finding is no news. Older ones are of reports
	// that came late, such as an import of last year's.
	newsDays = 7
	// refreshTime is longer than package measuring takes to compute the findings of a domain.
	refreshTime = 6 * time.Minute
	// recipientKey is the key of the only recipient of a mail. It is no id, so that events of the
	// mail name no contact.
	recipientKey = "member"
)

// Run decides which mails are due, and passes those that are stored to the account. After a
// failure it continues with the others, and returns all failures.
func (n *Notices) Run(ctx context.Context) error {
	return errors.Join(n.decideDigests(ctx), n.decideAlerts(ctx), n.deliverDue(ctx))
}

// decideDigests stores the digests that are due.
func (n *Notices) decideDigests(ctx context.Context) error {
	due, err := n.Digests.DueDigests(ctx, n.Clock(), lookLimit)
	if err != nil {
		return err
	}
	var failures []error
	for _, d := range due {
		if err := n.decideDigest(ctx, d); err != nil {
			failures = append(failures, fmt.Errorf("digest of domain %s: %w", d.DomainID, err))
		}
	}
	return errors.Join(failures...)
}

// decideDigest stores a digest, and when the next one is due. A digest that is late, because no
// process ran, is about the days before today.
func (n *Notices) decideDigest(ctx context.Context, d Due) error {
	return n.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := n.Clock()
		moved, err := n.Digests.MoveDigest(ctx, d, nextDigest(now))
		if err != nil || !moved {
			return err
		}
		address, ok, err := n.reader(ctx, d.Ref, d.UserID)
		if err != nil || !ok {
			return err
		}
		// Reports about a day come on the next one, so yesterday is not complete.
		to := figures.AddDays(now, -1)
		from, before := figures.AddDays(to, -7), figures.AddDays(to, -14)
		week, err := n.Digests.Week(ctx, d.Ref, from, to)
		if err != nil {
			return err
		}
		last, err := n.Digests.Week(ctx, d.Ref, before, from)
		if err != nil {
			return err
		}
		return n.add(ctx, d.Ref, Digest, d.UserID, address, digestMail(d.Domain, n.PageURL(d.Domain), from, week, last), now)
	})
}

// reader returns the address of a member who may still read about the domain. It deletes the
// subscription of others, who have to ask for mails again if they come back.
func (n *Notices) reader(ctx context.Context, d Ref, userID string) (address string, ok bool, err error) {
	address, ok, err = n.Readers.Address(ctx, d.OrgID, userID)
	if err == nil && !ok {
		err = n.Subscriptions.SaveSubscription(ctx, d.OrgID, d.DomainID, userID, Subscription{})
	}
	return address, ok, err
}

// add stores a mail and its recipient.
func (n *Notices) add(ctx context.Context, d Ref, kind Kind, userID, address string, m *mail, now time.Time) error {
	notice := Notice{
		ID: core.NewID(), Ref: d, UserID: userID, Kind: kind, Day: figures.DayOf(now), Subject: m.subject, Text: m.text.String(), HTML: m.page(), CreatedAt: now,
	}
	added, err := n.Queue.AddNotice(ctx, notice)
	if err != nil || !added {
		return err
	}
	return n.Recipients.Add(ctx, d.OrgID, notice.ID, []handover.Recipient{{Key: recipientKey, Email: address}}, now)
}

// decideAlerts announces findings that are new.
func (n *Notices) decideAlerts(ctx context.Context) error {
	due, err := n.Alerts.DomainsWithNews(ctx, figures.DayOf(n.Clock()), lookLimit)
	if err != nil {
		return err
	}
	var failures []error
	for _, d := range due {
		if err := n.announce(ctx, d); err != nil {
			failures = append(failures, fmt.Errorf("alert about domain %s: %w", d.DomainID, err))
		}
	}
	return errors.Join(failures...)
}

// announce stores an alert to each subscriber with the findings that are news, and marks all
// findings as announced. If there was an alert today, all of them wait for tomorrow.
func (n *Notices) announce(ctx context.Context, d Ref) error {
	return n.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := n.Clock()
		locked, err := n.Alerts.LockNews(ctx, d, now.Add(-refreshTime))
		if err != nil || !locked {
			return err
		}
		if alerted, err := n.Alerts.AlertedOn(ctx, d, figures.DayOf(now)); err != nil || alerted {
			return err
		}
		found, err := n.Alerts.News(ctx, d)
		if err != nil {
			return err
		}
		if err := n.Alerts.Announce(ctx, d); err != nil {
			return err
		}
		news := slices.DeleteFunc(found, func(f Finding) bool { return !isNews(f, now) })
		if len(news) == 0 {
			return nil
		}
		members, err := n.Alerts.Subscribers(ctx, d)
		if err != nil {
			return err
		}
		for _, userID := range members {
			address, ok, err := n.reader(ctx, d, userID)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := n.add(ctx, d, Alert, userID, address, alertMail(d.Domain, n.PageURL(d.Domain), news), now); err != nil {
				return err
			}
		}
		return nil
	})
}

// isNews reports whether a finding deserves an alert: it is open, opened lately, and says that an
// unknown sender without a decision sends, or fails in quantity.
func isNews(f Finding, now time.Time) bool {
	unknown := f.Classification == figures.Unknown || f.Classification == figures.Spoofing
	begins := f.Code == sources.FailingVolume || f.Code == sources.NewSource
	return unknown && begins && f.Decision == figures.Unreviewed && f.ClosedAt.IsZero() && !f.OpenedAt.Before(figures.AddDays(now, -newsDays))
}
