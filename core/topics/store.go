package topics

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Store stores the mirror of the account's topics. Every method sees only the given
// organization and takes part in the transaction of its context.
type Store interface {
	// Topics returns the mirrored topics, by name.
	Topics(ctx context.Context, orgID string) ([]Topic, error)
	// ReplaceTopics replaces the mirrored topics by these. A topic that the mirror already
	// has keeps its origin and the time of its creation.
	ReplaceTopics(ctx context.Context, orgID string, topics []sending.Topic, at time.Time) error
	// ContactList fails with core.CodeContactListNotSynced before the first sync.
	ContactList(ctx context.Context, orgID string) (ContactList, error)
}

// SubscriberStore keeps contacts as the sync sees them. Every method sees only the
// organization given and takes part in the transaction of its context.
type SubscriberStore interface {
	// SubscriberByID and SubscriberByEmail return a contact, including archived ones. They
	// fail with core.CodeNotFound.
	SubscriberByID(ctx context.Context, orgID, id string) (Subscriber, error)
	SubscriberByEmail(ctx context.Context, orgID, email string) (Subscriber, error)
	// MirroredAddresses returns one page of all active contacts, by id, after the id
	// given; "" is the beginning.
	MirroredAddresses(ctx context.Context, orgID, after string, limit int) ([]MirroredAddress, error)
	// MirrorConsent copies a page of the account's contacts into the mirror. It replaces the
	// consent of known contacts where it differs, adds unknown addresses as shells, and
	// skips archived contacts. It also skips contacts written after asked, the time at which
	// the page was requested, because the page may be older than the write. touched are the
	// ids of the contacts that it added or changed.
	MirrorConsent(ctx context.Context, orgID string, page []sending.Contact, asked, at time.Time) (count Mirrored, touched []string, err error)
	// DropShell deletes a contact that only a sync has made. It skips any other contact,
	// and a shell that has activities.
	DropShell(ctx context.Context, orgID, contactID string) error
}

// SyncStore stores what the sync compares with the account. Every method sees only the given
// organization and takes part in the transaction of its context.
type SyncStore interface {
	// ContactList fails with core.CodeContactListNotSynced before the first sync.
	ContactList(ctx context.Context, orgID string) (ContactList, error)
	SaveContactList(ctx context.Context, orgID string, l ContactList) error

	// AccountNotes returns the oldest notes from before a time.
	AccountNotes(ctx context.Context, orgID string, before time.Time, limit int) ([]AccountNote, error)
	// DropAccountNote deletes a note. It succeeds when the note is gone.
	DropAccountNote(ctx context.Context, orgID, id string) error
}

// Mirrored counts the effects of MirrorConsent.
type Mirrored struct {
	Created, Updated, Unchanged int
}

// MirroredAddress is the part of an active contact that a sync compares.
type MirroredAddress struct {
	ContactID string
	Email     string
	Shell     bool
	UpdatedAt time.Time
}

// Subscriber is a contact as the sync compares it with the account.
type Subscriber struct {
	ID string
	// Consent has the address and the consent in the mirror.
	Consent  sending.Contact
	Archived bool
	// Shell is true if only a sync has created the contact, Stub if only activities have
	// named it.
	Shell, Stub          bool
	CreatedAt, UpdatedAt time.Time
}
