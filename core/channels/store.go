package channels

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Store stores what the account has. Methods that find one thing fail with
// core.CodeNotFound. Pages are newest first. Every method takes part in the transaction
// of its context and sees only the given organization.
type Store interface {
	Channels(ctx context.Context, orgID string, after *core.After, limit int) ([]Channel, error)
	// Channel returns a channel by exactly one of id, slug and name at the provider.
	Channel(ctx context.Context, orgID string, by ChannelKey) (Channel, error)
	// Adopt claims a channel and the identities bound to it for the organization. It fails
	// with core.CodeConflict if another organization of the same provider's account has
	// claimed one of them. It also fails so if the account does not have the channel now. It
	// may be repeated.
	Adopt(ctx context.Context, orgID, id string, at time.Time) error

	Identities(ctx context.Context, orgID string, after *core.After, limit int) ([]Identity, error)
	// Identity returns an identity by its lower-case form.
	Identity(ctx context.Context, orgID, key string) (Identity, error)
	// Tokens returns the DKIM tokens of those domains that are identities. The domains
	// are in lower case.
	Tokens(ctx context.Context, orgID string, domains []string) (map[string][]string, error)

	TrackingDomains(ctx context.Context, orgID string, after *core.After, limit int) ([]TrackingDomain, error)
	TrackingDomain(ctx context.Context, orgID, domain string) (TrackingDomain, error)
	// UnverifiedDomains returns all tracking domains that are still checked.
	UnverifiedDomains(ctx context.Context, orgID string) ([]TrackingDomain, error)
	// SetTrackingStatus stores Status, CheckedAt and VerifiedAt of a domain. It succeeds
	// if the domain was deleted.
	SetTrackingStatus(ctx context.Context, orgID string, d TrackingDomain) error

	// Mirror replaces the stored state with that of the account.
	Mirror(ctx context.Context, orgID string, seen Seen) error
	// LastSync returns when the account was last read, with its region.
	LastSync(ctx context.Context, orgID string) (Sync, error)
}

// ChannelKey names a channel: exactly one field is set.
type ChannelKey struct{ ID, Slug, Name string }

// Seen is the state of the account at one read.
type Seen struct {
	Sync
	Sets       []sending.ConfigurationSet
	Identities []sending.Identity
}

// Sync says which account was read and when. Account names the provider's account with
// its region. If the provider has no id for it, it is the organization's own id, so that
// such accounts never count as shared.
type Sync struct {
	Account, Region string
	At              time.Time
}
