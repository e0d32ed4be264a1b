package reports

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Rates returns how many messages of a window were sent, bounced and complained about, over
// all channels. The provider reviews an account by the rates of these counts.
func (r *Reports) Rates(ctx context.Context, orgID string, w core.Window) (sent, bounced, complained int64, err error) { //nolint:nonamedreturns // says which
	found, err := r.read(ctx, orgID, Filter{Window: w}, r.Clock(), wantedFigures{days: true})
	if err != nil {
		return 0, 0, 0, err
	}
	for _, day := range found.days {
		sent, bounced, complained = sent+day.Sent, bounced+day.Bounced, complained+day.Complained
	}
	return sent, bounced, complained, nil
}
