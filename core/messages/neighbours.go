package messages

import (
	"context"
	"time"
)

// The interfaces of other packages that this package needs. They are small, so that no
// domain depends on another one for a single question.

// ChannelNames translates between the names of channels at the provider, in events, and
// those of Mailhelm. Every method fails with core.CodeNotFound for an unknown channel.
type ChannelNames interface {
	// ChannelName returns the name at the provider of the channel with this id,
	// ChannelNameOf of the one with this id or slug.
	ChannelName(ctx context.Context, orgID, id string) (string, error)
	ChannelNameOf(ctx context.Context, orgID, reference string) (string, error)
	// ChannelSlug returns the slug of the channel with this name at the provider.
	ChannelSlug(ctx context.Context, orgID, name string) (string, error)
}

// SuppressionList is the account's own list of addresses that it refuses to mail.
type SuppressionList interface {
	// FindSuppressed asks the account over the network. It returns nil when the address is
	// not on the list.
	FindSuppressed(ctx context.Context, orgID, email string) (*SuppressedRecipient, error)
}

// SuppressedRecipient is an entry of the account's list.
type SuppressedRecipient struct {
	// Reason is "bounce", "complaint" or "manual".
	Reason string
	At     time.Time
}

// UndeliverableList is Mailhelm's own list of undeliverable addresses. It is advice and
// blocks nothing.
type UndeliverableList interface {
	// Undeliverable returns nil when the address is not listed.
	Undeliverable(ctx context.Context, orgID, email string) (*UndeliverableRecipient, error)
}

// UndeliverableRecipient is a judgement about an address.
type UndeliverableRecipient struct {
	// Reason is the name of the rule that listed the address.
	Reason     string
	LastSeenAt time.Time
}
