package reports

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Rates returns the counts that the provider reviews an account by: messages sent,
// bounced and complained about in a window, over all channels.
func (r *Reports) Rates(ctx context.Context, orgID string, w core.Window) (sent, bounced, complained int64, err error) { //nolint:nonamedreturns // says which
	found, err := r.read(ctx, orgID, Filter{Window: w}, r.Clock(), wanted{days: true})
	if err != nil {
		return 0, 0, 0, err
	}
	for _, day := range found.days {
		sent, bounced, complained = sent+day.Sent, bounced+day.Bounced, complained+day.Complained
	}
	return sent, bounced, complained, nil
}
