package channels

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Store stores the channels, identities and tracking domains of sending accounts. Methods
// that find one record fail with core.CodeNotFound if the record does not exist. Pages list
// the newest record first. Every method takes part in the transaction of its context, and
// reads and changes only data of the given organization.
type Store interface {
	Channels(ctx context.Context, orgID string, after *core.After, limit int) ([]Channel, error)
	// Channel returns the channel that the key names, by its id, its slug or its name at the
	// provider.
	Channel(ctx context.Context, orgID string, by ChannelKey) (Channel, error)
	// Adopt takes a channel into use and reserves it, with its identities, for the
	// organization. It fails with core.CodeConflict if another organization on the same
	// provider's account has reserved the channel or one of the identities. It also fails
	// with that code if the account does not have the channel now. It succeeds if the
	// organization has already adopted the channel.
	Adopt(ctx context.Context, orgID, id string, at time.Time) error

	Identities(ctx context.Context, orgID string, after *core.After, limit int) ([]Identity, error)
	// Identity returns the sending identity. The parameter key is its domain or address in
	// lower case.
	Identity(ctx context.Context, orgID, key string) (Identity, error)
	// Tokens returns the DKIM tokens of each domain that is an identity, keyed by domain.
	// The domains must be in lower case.
	Tokens(ctx context.Context, orgID string, domains []string) (map[string][]string, error)

	TrackingDomains(ctx context.Context, orgID string, after *core.After, limit int) ([]TrackingDomain, error)
	TrackingDomain(ctx context.Context, orgID, domain string) (TrackingDomain, error)
	// UnverifiedDomains returns the tracking domains with the status pending, whose records
	// are still checked.
	UnverifiedDomains(ctx context.Context, orgID string) ([]TrackingDomain, error)
	// SetTrackingStatus stores the Status, CheckedAt and VerifiedAt of a tracking domain. It
	// succeeds without effect if the domain was deleted.
	SetTrackingStatus(ctx context.Context, orgID string, d TrackingDomain) error

	// Mirror replaces the organization's stored channels, identities and tracking domains by
	// those of the account. It fails with core.CodeConflict, and changes nothing, if the last
	// stored sync is another one than that of seen.Previous.
	Mirror(ctx context.Context, orgID string, seen Seen) error
	// LastSync returns the time of the last sync, and the account and region from which this
	// sync read.
	LastSync(ctx context.Context, orgID string) (Sync, error)
}

// ChannelKey names a channel by its id, its slug or its name at the provider. Exactly one
// field is set.
type ChannelKey struct{ ID, Slug, Name string }

// Seen is the content of a sending account at the time of a sync.
type Seen struct {
	Sync
	// Previous is the time of the last sync that was stored when the account was read, as
	// LastSync returned it, or the zero time if there was none.
	Previous   time.Time
	Sets       []sending.ConfigurationSet
	Identities []sending.Identity
}

// Sync records which account was read and when. Account is the provider's account id and
// region. If the provider reports no account id, Account is made from the organization's
// id, so that the account never counts as shared.
type Sync struct {
	Account, Region string
	At              time.Time
}
