package notices

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// keepTrying is how long a mail waits for the account. After that it is no news.
	keepTrying = 72 * time.Hour
	// mostWait is the greatest wait between two attempts. The first wait is a minute, and each
	// further one twice as long.
	mostWait = time.Hour
	// localPart is that of the address from which mails about a domain come.
	localPart = "dmarc"
)

// deliverDue passes the mails that are due to the account.
func (n *Notices) deliverDue(ctx context.Context) error {
	due, err := n.Queue.DueNotices(ctx, n.Clock(), lookLimit)
	if err != nil {
		return err
	}
	var failures []error
	for _, r := range due {
		if err := n.deliver(ctx, r); err != nil {
			failures = append(failures, fmt.Errorf("mail %s about a domain: %w", r.ID, err))
		}
	}
	return errors.Join(failures...)
}

// deliver passes a mail to the account, and ends it if its outcome is known.
func (n *Notices) deliver(ctx context.Context, r NoticeRef) error {
	notice, err := n.Queue.Notice(ctx, r)
	if core.IsNotFound(err) {
		return nil // another process ended it
	}
	if err != nil {
		return err
	}
	now := n.Clock()
	if now.Sub(notice.CreatedAt) > keepTrying {
		if err := n.Steps.Abandon(ctx, r.OrgID, r.ID, "the sending account accepted no mail for three days"); err != nil {
			return err
		}
		n.Log.WarnContext(ctx, "a mail about a domain was given up", "org_id", r.OrgID, "domain_id", notice.DomainID, "kind", notice.Kind)
		return n.Queue.EndNotice(ctx, r)
	}
	until, failure := n.step(ctx, notice)
	recipient, err := n.Recipients.Recipient(ctx, r.OrgID, r.ID, recipientKey)
	if err != nil {
		return errors.Join(failure, err)
	}
	if recipient.State.IsOutcome() {
		if recipient.State == handover.Failed {
			n.Log.WarnContext(ctx, "a mail about a domain was not sent", "org_id", r.OrgID, "domain_id", notice.DomainID, "kind", notice.Kind, "reason", recipient.Reason)
		}
		return errors.Join(failure, n.Queue.EndNotice(ctx, r))
	}
	if failure != nil {
		n.Log.WarnContext(ctx, "a mail about a domain waits for the sending account", "org_id", r.OrgID, "domain_id", notice.DomainID, "kind", notice.Kind, "error", failure)
	}
	if next := now.Add(waitAfter(notice.Attempts)); until.Before(next) {
		until = next
	}
	return n.Queue.Postpone(ctx, r, notice.Attempts+1, until)
}

// waitAfter returns the wait after an attempt that was preceded by others.
func waitAfter(attempts int) time.Duration {
	wait := time.Minute
	for range attempts {
		if wait = 2 * wait; wait >= mostWait {
			return mostWait
		}
	}
	return wait
}

// errNoSender is the failure of an organization without a verified domain.
var errNoSender = errors.New("the organization has no verified domain to send from")

// step makes one attempt. It returns the time before which the next one has nothing to do, zero
// if that is not known.
func (n *Notices) step(ctx context.Context, notice Notice) (time.Time, error) {
	from, err := n.from(ctx, notice)
	if err != nil {
		return time.Time{}, err
	}
	channel, err := n.Senders.Channel(ctx, notice.OrgID)
	if err != nil {
		return time.Time{}, err
	}
	p, err := n.Steps.Step(ctx, notice.OrgID, notice.ID, &mailing{n, notice, sending.Envelope{From: from, ConfigurationSet: channel}, ""})
	return p.Wait, err
}

// from returns the address dmarc at the domain itself, or the default sender of the organization
// if the account may not send from that.
func (n *Notices) from(ctx context.Context, notice Notice) (string, error) {
	otherwise, err := n.Senders.Default(ctx, notice.OrgID)
	if err != nil {
		return "", err
	}
	if otherwise == "" {
		return "", errNoSender
	}
	address := localPart + "@" + notice.Domain
	verified, err := n.Senders.IsVerified(ctx, notice.OrgID, address)
	if err != nil || !verified {
		return otherwise, err
	}
	named, err := netmail.ParseAddress(otherwise)
	if err != nil {
		return otherwise, nil //nolint:nilerr // an address without a name that can be read is good too
	}
	return (&netmail.Address{Name: named.Name, Address: address}).String(), nil
}

// mailing is a mail as package handover drives it.
type mailing struct {
	*Notices
	notice   Notice
	envelope sending.Envelope
	// to is the address of the member in the transaction of the claim.
	to string
}

var _ handover.Mailing = (*mailing)(nil)

// Running lets the mail leave.
func (m *mailing) Running(_ context.Context, _ string, want int, _ time.Time) (handover.Allowance, error) {
	return handover.Allowance{Recipients: want}, nil
}

// Claimed does nothing: a mail has no rate of its own.
func (m *mailing) Claimed(context.Context, string, int, time.Time) error { return nil }

// Application returns "": the mail counts for no application.
func (m *mailing) Application() string { return "" }

// Filter filters a person who is no member any more, or who must not see the domain.
func (m *mailing) Filter(ctx context.Context, orgID string, recipients []handover.Recipient) (map[string]handover.Tier, error) {
	tiers := map[string]handover.Tier{}
	for _, r := range recipients {
		address, ok, err := m.Readers.Address(ctx, orgID, m.notice.UserID)
		if err != nil {
			return nil, err
		}
		if m.to = address; !ok {
			tiers[r.Key] = handover.ByAccount
		}
	}
	return tiers, nil
}

// Message returns the mail to the address that the member has now.
func (m *mailing) Message(context.Context, string, handover.Recipient) (sending.Message, error) {
	return sending.Message{
		Envelope: m.envelope, To: []string{m.to},
		Content: sending.Content{Subject: m.notice.Subject, Text: m.notice.Text, HTML: m.notice.HTML},
	}, nil
}
