package inboxes

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Summary is an inbox as its pull link shows it.
type Summary struct {
	Address      string    `json:"address"`
	Status       Status    `json:"status"`
	ExpiresAt    time.Time `json:"expires_at"`
	MessageCount int       `json:"message_count"`
	DroppedCount int       `json:"dropped_count"`
	Restricted   bool      `json:"restricted"`
}

// pulled returns the inbox of a pull link. It fails with core.CodeNotFound for an unknown or
// revoked link and for that of a deleted inbox, and with core.CodeInboxExpired for that of an
// expired inbox. One query decides it for each, so that the times do not differ either.
func (x *Reader) pulled(ctx context.Context, secret string) (Inbox, error) {
	found, err := x.Tokens.InboxByToken(ctx, access.HashSecret(secret))
	if err != nil {
		return Inbox{}, err
	}
	if status := found.StatusAt(x.Clock()); status != Active {
		return Inbox{}, pullEnded(status)
	}
	return found, nil
}

// pullEnded is the error of pull links for an inbox that has ended. That of a deleted inbox
// must not differ from that of an unknown link.
func pullEnded(s Status) error {
	if s == Deleted {
		return core.NotFound("inbox link")
	}
	return errEnded(s)
}

// PullSummary returns the inbox of the pull link with a secret; see PullMessages.
func (x *Reader) PullSummary(ctx context.Context, secret string) (Summary, error) {
	i, err := x.pulled(ctx, secret)
	if err != nil {
		return Summary{}, err
	}
	return Summary{
		Address: x.AddressOf(i), Status: Active, ExpiresAt: i.ExpiresAt, MessageCount: i.MessageCount, DroppedCount: i.DroppedCount, Restricted: i.Restriction != Unrestricted,
	}, nil
}

// PullMessages returns the messages of the inbox of the pull link with a secret. It waits as
// inboxes_messages does. It fails with core.CodeNotFound for an unknown or revoked link and
// for that of a deleted inbox, and with core.CodeInboxExpired for that of an expired inbox.
func (x *Reader) PullMessages(ctx context.Context, secret string, q Query) (Arrived, error) {
	find := func(ctx context.Context) (Inbox, error) { return x.pulled(ctx, secret) }
	return (&poll{x: x, q: q, find: find, ended: pullEnded}).run(ctx)
}
