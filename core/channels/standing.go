package channels

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Standing has the newest channels, identities and tracking domains of an organization, for
// the dashboard.
type Standing struct {
	Channels   []Channel
	Identities []Identity
	Tracking   []TrackingDomain
	More       bool      // whether some are left out
	SyncedAt   time.Time // zero before the first sync
}

// Standing returns the newest channels, identities and tracking domains, at most limit of
// each.
func (c *Channels) Standing(ctx context.Context, orgID string, limit int) (Standing, error) {
	var s Standing
	sync, err := c.Store.LastSync(ctx, orgID)
	if err != nil && core.AsError(err).Code != core.CodeNotFound {
		return Standing{}, err
	}
	if err == nil {
		s.SyncedAt = sync.At
	}
	if s.Channels, err = c.Store.Channels(ctx, orgID, nil, limit+1); err != nil {
		return Standing{}, err
	}
	if s.Identities, err = c.Store.Identities(ctx, orgID, nil, limit+1); err != nil {
		return Standing{}, err
	}
	if s.Tracking, err = c.trackingDomains(ctx, orgID, nil, limit+1); err != nil {
		return Standing{}, err
	}
	s.More = len(s.Channels) > limit || len(s.Identities) > limit || len(s.Tracking) > limit
	s.Channels, s.Identities, s.Tracking = s.Channels[:min(limit, len(s.Channels))], s.Identities[:min(limit, len(s.Identities))], s.Tracking[:min(limit, len(s.Tracking))]
	return s, nil
}
