package inboxes

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// The limits of inboxes.
const (
	// DefaultTTL is the life of an inbox in seconds, if the call states none.
	DefaultTTL = 600
	// MaxWait is how long a poll waits at most.
	MaxWait = 25 * time.Second
	// MaxLabel is the maximum length of a label in characters.
	MaxLabel = 80
	// MaxPullTokens is the maximum number of pull links of an inbox that work.
	MaxPullTokens = 10
	// MaxAllowedSenders is the maximum number of entries of allowed_senders.
	MaxAllowedSenders = 100
	// MaxMessages is the maximum number of messages that an inbox stores. Further messages are
	// dropped, so that a flood of mail cannot fill the disk.
	MaxMessages = 10_000
	// MaxBytes is the maximum size in bytes of the messages that an inbox stores, as they came. A
	// message that does not fit is dropped; a smaller one that comes later is stored.
	MaxBytes = 100 << 20
	// Kept is how long the row of an inbox is stored after its end.
	Kept = 30 * 24 * time.Hour

	// defaultTokenLabel is the label of a pull link without one.
	defaultTokenLabel = "default"
)

// Visibility says who in the organization sees an inbox.
type Visibility string

// The values of Visibility.
const (
	// Private is seen by its owner only; see [core.Principal.Owner].
	Private Visibility = "private"
	// Shared is seen by the whole organization.
	Shared Visibility = "org"
)

// Status is the state of an inbox.
type Status string

// The states of an inbox.
const (
	Active  Status = "active"
	Expired Status = "expired"
	Deleted Status = "deleted"
)

// RestrictionSource says by what rule the entries of allowed_senders were accepted.
type RestrictionSource string

// The sources of a restriction. Unrestricted inboxes have none.
const (
	Unrestricted RestrictionSource = ""
	// Verified entries are addresses and domains that the caller or the organization proved.
	Verified RestrictionSource = "verified"
	// Platform entries were checked for their syntax only, because the organization is in
	// platform mode.
	Platform RestrictionSource = "platform"
)

// Inbox is a temporary inbox.
type Inbox struct {
	ID, OrgID string
	// LocalPart is the address without its domain.
	LocalPart string
	// Owner sees a private inbox. Caller is the credential whose live inboxes are counted.
	Owner, Caller string
	AccountRef    string
	Label         string
	Visibility    Visibility
	// AllowedSenders are addresses and @domains in lower case.
	AllowedSenders []string
	Restriction    RestrictionSource
	CreatedAt      time.Time
	ExpiresAt      time.Time
	// DeletedAt is nil unless the inbox was deleted before it expired.
	DeletedAt *time.Time
	// MessageCount is the number of accepted messages, and the cursor of the newest.
	// DroppedCount is the number of refused messages.
	MessageCount, DroppedCount int
	// StoredBytes is the size of the accepted messages. Only [DeliveryStore] reads it.
	StoredBytes int64
	// First is the pull link that was made with the inbox.
	First Token
}

// Ends returns the time from which the inbox receives and shows nothing: that of its deletion,
// or ExpiresAt.
func (i Inbox) Ends() time.Time {
	if i.DeletedAt != nil {
		return *i.DeletedAt
	}
	return i.ExpiresAt
}

// StatusAt returns the state of the inbox at a time.
func (i Inbox) StatusAt(now time.Time) Status {
	switch {
	case i.DeletedAt != nil:
		return Deleted
	case !now.Before(i.ExpiresAt):
		return Expired
	}
	return Active
}

// IsVisibleTo reports whether a caller of the organization sees the inbox.
func (i Inbox) IsVisibleTo(p core.Principal) bool {
	return i.Visibility == Shared || i.Owner == p.Owner()
}

// Token is a pull link. Its secret is not stored.
type Token struct {
	ID, InboxID string
	Hash        []byte // SHA-256 of the secret
	Prefix      string // the first eight characters of the secret
	Label       string
	CreatedAt   time.Time
	RevokedAt   *time.Time
}

// Stored is a message of an inbox.
type Stored struct {
	// Seq is the position of the message in the inbox, from 1. It is the cursor of polls.
	Seq        int
	Recipients []string
	Message    inbound.Message
	Extracted  Extracted
}

// Extracted has what a person or a test would copy from a message.
type Extracted = inbound.Extracted

// Link is a link in a message.
type Link = inbound.Link
