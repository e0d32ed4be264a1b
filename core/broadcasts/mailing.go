package broadcasts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
)

// mailing is a running broadcast as package handover drives it. One goroutine uses it for
// one step after another.
type mailing struct {
	b    *Editor
	send Broadcast // as it was when the mailing was opened
	mail *composition.Mail

	// rate is that of the send, as Running has read it for the current step. A step calls
	// Running and Claimed in one transaction, which locks the send.
	rate int

	// members are the recipients of the current step, by contact id; only Filter writes them.
	members map[string]Member
}

var _ handover.BulkMailing = (*mailing)(nil)

// Mailing returns a running broadcast as package handover drives it. The value is for one
// goroutine. The content of the broadcast must be frozen.
func (b *Editor) Mailing(send Broadcast) (handover.Mailing, error) {
	var content composition.Content
	if err := json.Unmarshal([]byte(send.Frozen), &content); err != nil {
		return nil, fmt.Errorf("broadcasts: stored content: %w", err)
	}
	mail, err := content.Compile()
	if err != nil {
		return nil, err
	}
	return &mailing{b: b, send: send, mail: mail}, nil
}

// paceTime is the time for which a broadcast with a rate of its own claims recipients at
// once.
const paceTime = 5 * time.Second

func (m *mailing) Running(ctx context.Context, orgID string, want int, now time.Time) (handover.Allowance, error) {
	progress, err := m.b.Store.LockProgress(ctx, orgID, m.send.ID)
	if err != nil || progress.State != Sending || progress.Paused == PausedByPerson {
		return handover.Allowance{}, err
	}
	m.rate = progress.Rate
	if progress.Rate == 0 {
		return handover.Allowance{Recipients: want}, nil
	}
	if progress.PacedAt.After(now) {
		return handover.Allowance{Until: progress.PacedAt}, nil
	}
	return handover.Allowance{Recipients: max(1, min(want, int(paceTime/each(progress.Rate))))}, nil
}

// each returns the time that a message takes at a rate in messages a minute.
func each(rate int) time.Duration { return time.Minute / time.Duration(rate) }

func (m *mailing) Claimed(ctx context.Context, orgID string, recipients int, now time.Time) error {
	if m.rate == 0 {
		return nil
	}
	return m.b.Store.SetPace(ctx, orgID, m.send.ID, now.Add(time.Duration(recipients)*each(m.rate)))
}

func (m *mailing) Application() string { return m.send.Application }

// Filter judges the contacts as they are in the transaction of the claim, and keeps them
// for rendering. A contact that was deleted counts as opted out of all mail.
func (m *mailing) Filter(ctx context.Context, orgID string, recipients []handover.Recipient) (map[string]handover.Tier, error) {
	ids := make([]string, len(recipients))
	for i, r := range recipients {
		ids[i] = r.Key
	}
	found, err := m.b.Audience.Members(ctx, orgID, m.send.Topic, ids)
	if err != nil {
		return nil, err
	}
	m.members = make(map[string]Member, len(found))
	for _, member := range found {
		m.members[member.ContactID] = member
	}
	tiers := map[string]handover.Tier{}
	for _, id := range ids {
		if member, known := m.members[id]; !known {
			tiers[id] = handover.ByAccount
		} else if member.Tier != "" {
			tiers[id] = member.Tier
		}
	}
	return tiers, nil
}

// Message renders the message. It goes to the contact's address of now, which may be another
// than when the audience was copied.
func (m *mailing) Message(_ context.Context, orgID string, r handover.Recipient) (sending.Message, error) {
	to, err := m.recipient(orgID, r)
	if err != nil {
		return sending.Message{}, err
	}
	return m.mail.Message(to)
}

func (m *mailing) Bulk() (sending.Bulk, bool) { return m.mail.Bulk() }

// BulkRecipient renders what only this message has; see Message.
func (m *mailing) BulkRecipient(_ context.Context, orgID string, r handover.Recipient) (sending.BulkRecipient, string, error) {
	to, err := m.recipient(orgID, r)
	if err != nil {
		return sending.BulkRecipient{}, "", err
	}
	return m.mail.BulkRecipient(to)
}

// recipient returns a recipient of the current step with its data and links.
func (m *mailing) recipient(orgID string, r handover.Recipient) (composition.Recipient, error) {
	if member, known := m.members[r.Key]; known {
		return m.b.recipientOf(orgID, m.send, member)
	}
	return composition.Recipient{}, fmt.Errorf("broadcasts: no data of recipient %s", r.Key)
}
