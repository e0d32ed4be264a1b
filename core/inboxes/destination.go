package inboxes

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// Destination stores received messages in inboxes. It is the [inbound.Destination] of
// [inbound.ToInbox].
type Destination struct{ *Reader }

var _ inbound.Destination = Destination{}

// Destination returns the destination of mail to inboxes.
func (x *Inboxes) Destination() Destination { return Destination{x.Reader} }

// Deliver stores the message in the inbox of the routes. It drops and counts a message with
// malware, of a sender that is not allowed, and for an inbox that has ended or is full.
func (d Destination) Deliver(ctx context.Context, m inbound.Message, routes []inbound.Route) (bool, error) {
	to := routes[0]
	i, err := d.Store.Inbox(ctx, to.OrgID, to.TargetID)
	if core.IsNotFound(err) {
		return false, nil // its row is deleted, 30 days after its end
	}
	if err != nil {
		return false, err
	}
	if i.StatusAt(d.Clock()) != Active || i.MessageCount >= MaxMessages || m.Verdicts.Virus == inbound.Fail || !i.allows(m) {
		return false, d.Store.CountReceived(ctx, i.OrgID, i.ID, 0, 1)
	}
	s := Stored{Seq: i.MessageCount + 1, Message: m, Extracted: m.Extracted}
	for _, r := range routes {
		s.Recipients = append(s.Recipients, r.Recipient)
	}
	added, err := d.Messages.AddReceived(ctx, i.OrgID, i.ID, s)
	if err != nil || !added { // the inbox has the message with other objects
		return false, err
	}
	return true, d.Store.CountReceived(ctx, i.OrgID, i.ID, 1, 0)
}

// Committed wakes the polls that wait for the inbox.
func (d Destination) Committed(ctx context.Context, _ inbound.Message, routes []inbound.Route) {
	d.Waiting.Announce(ctx, routes[0].TargetID)
}
