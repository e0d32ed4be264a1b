package inboxes

import (
	"context"
	"io"

	"github.com/mailhelm/mailhelm/core"
)

// OpenAttachment opens the content of the n-th attachment, from 0, of the message at a position
// of an active inbox. The caller closes it. It fails with core.CodeNotFound for a message or an
// attachment that does not exist, and with core.CodeInboxExpired for an inbox that has ended.
//
// It checks the organization, but not who in it may see the inbox: a caller has read the message
// by the operation inboxes_messages first, which does.
func (x *Reader) OpenAttachment(ctx context.Context, orgID, inboxID string, position, n int) (io.ReadCloser, error) {
	found, err := x.Store.Inbox(ctx, orgID, inboxID)
	if err != nil {
		return nil, err
	}
	if status := found.StatusAt(x.Clock()); status != Active {
		return nil, errEnded(status)
	}
	stored, err := x.Messages.Received(ctx, orgID, inboxID, position-1, 1, pageBytes)
	if err != nil {
		return nil, err
	}
	if len(stored) == 0 || stored[0].Seq != position || n < 0 || n >= len(stored[0].Message.Attachments) {
		return nil, core.NotFound("attachment")
	}
	m := stored[0].Message
	return x.Objects.Open(ctx, orgID, m.StoreID, m.Attachments[n].Key)
}
