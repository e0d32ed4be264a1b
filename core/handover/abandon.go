package handover

import (
	"context"
	"time"
)

// Abandon ends all pending recipients of a send as failed, for the reason. It claims them
// without calling the account, so the protocol of [Recipient] holds: an attempt that another
// worker has begun is not touched.
func (h *Handover) Abandon(ctx context.Context, orgID, sendID, reason string) error {
	for {
		n, err := h.abandonBatch(ctx, orgID, sendID, reason)
		if err != nil || n == 0 {
			return err
		}
	}
}

// farAhead is later than the NotBefore of every recipient.
const farAhead = 365 * 24 * time.Hour

// abandonBatch ends up to a batch of pending recipients and returns their number.
func (h *Handover) abandonBatch(ctx context.Context, orgID, sendID, reason string) (int, error) {
	var ended int
	err := h.Transactor.InTx(ctx, func(ctx context.Context) error {
		now := h.Clock()
		due, err := h.Store.Pending(ctx, orgID, sendID, now.Add(farAhead), batch)
		if ended = len(due); err != nil || ended == 0 {
			return err
		}
		answers := make([]Answer, len(due))
		for i, r := range due {
			r.Attempt++
			answers[i] = r.refused(reason)
		}
		// Claim also those that are to be tried later.
		if err := h.Store.Claim(ctx, orgID, sendID, due, h.Process, now.Add(farAhead)); err != nil {
			return err
		}
		return h.Store.Answer(ctx, orgID, sendID, answers, now)
	})
	return ended, err
}
