package channels

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Store remembers what the account showed. Finders of one thing fail with
// core.CodeNotFound; pages are newest first; everything takes part in the
// transaction of its context and sees only the organization it is given.
type Store interface {
	Channels(ctx context.Context, orgID string, after *core.After, limit int) ([]Channel, error)
	// Channel finds by exactly one of id, slug and name at the provider.
	Channel(ctx context.Context, orgID string, by ChannelKey) (Channel, error)
	// Adopt makes a channel that the account has the organization's own, with the
	// identities bound to it. It fails with core.CodeConflict when one of them is
	// in use by another organization of the same provider's account, and when the
	// account does not have the channel now. Doing it again changes nothing.
	Adopt(ctx context.Context, orgID, id string, at time.Time) error

	Identities(ctx context.Context, orgID string, after *core.After, limit int) ([]Identity, error)
	// Identity finds by the identity in lower case.
	Identity(ctx context.Context, orgID, key string) (Identity, error)
	// Tokens are the DKIM tokens of those domains, in lower case, that are
	// identities.
	Tokens(ctx context.Context, orgID string, domains []string) (map[string][]string, error)

	TrackingDomains(ctx context.Context, orgID string, after *core.After, limit int) ([]TrackingDomain, error)
	TrackingDomain(ctx context.Context, orgID, domain string) (TrackingDomain, error)
	// Unverified are all tracking domains that are still looked at.
	Unverified(ctx context.Context, orgID string) ([]TrackingDomain, error)
	// SetTrackingStatus stores Status, CheckedAt and VerifiedAt of a domain that is
	// there; one that is gone by then is no failure.
	SetTrackingStatus(ctx context.Context, orgID string, d TrackingDomain) error

	// Mirror brings everything to what the account showed.
	Mirror(ctx context.Context, orgID string, seen Seen) error
	// LastSync is when the account was last read, with its region.
	LastSync(ctx context.Context, orgID string) (Sync, error)
}

// ChannelKey names a channel: one member is set.
type ChannelKey struct{ ID, Slug, Name string }

// Seen is one look at the account.
type Seen struct {
	Sync
	Sets       []sending.ConfigurationSet
	Identities []sending.Identity
}

// Sync says which account was read and when. Account names the provider's account
// with its region; it is the organization's own id where the provider has none, so
// that such accounts are never taken for shared.
type Sync struct {
	Account, Region string
	At              time.Time
}
