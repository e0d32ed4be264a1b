package messages

import (
	"context"
	"time"
)

// These interfaces describe what this package needs from other packages. They are small, so
// that this package does not depend on a whole package for one query.

// ChannelNames translates between the provider's names of channels, which events contain,
// and Mailhelm's slugs and ids. Every method fails with core.CodeNotFound for an unknown
// channel.
type ChannelNames interface {
	// ChannelName returns the provider's name of the channel with this id. ChannelNameOf
	// returns it for a reference, which is an id or a slug.
	ChannelName(ctx context.Context, orgID, id string) (string, error)
	ChannelNameOf(ctx context.Context, orgID, reference string) (string, error)
	// ChannelSlug returns the slug of the channel with this name at the provider.
	ChannelSlug(ctx context.Context, orgID, name string) (string, error)
}

// SuppressionList is the list of addresses that the sending account itself refuses to mail.
type SuppressionList interface {
	// FindSuppressed looks up email on the account's list, over the network. It returns nil
	// if the address is not on the list.
	FindSuppressed(ctx context.Context, orgID, email string) (*SuppressedRecipient, error)
}

// SuppressedRecipient is an entry of the account's suppression list.
type SuppressedRecipient struct {
	// Reason is "bounce", "complaint" or "manual".
	Reason string
	At     time.Time
}

// UndeliverableList is Mailhelm's own list of undeliverable addresses. It is advice: being
// on the list does not block sending.
type UndeliverableList interface {
	// Undeliverable returns the list's entry of email, nil if the address is not listed.
	Undeliverable(ctx context.Context, orgID, email string) (*UndeliverableRecipient, error)
}

// UndeliverableRecipient is an entry of the list of undeliverable addresses.
type UndeliverableRecipient struct {
	// Reason is the name of the rule that listed the address.
	Reason     string
	LastSeenAt time.Time
}
