package topics

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Store stores Mailhelm's copy of the account's topics and contact list. Every method reads
// and changes only data of the given organization. It takes part in the transaction of its
// context.
type Store interface {
	// Topics returns the stored topics, sorted by name.
	Topics(ctx context.Context, orgID string) ([]Topic, error)
	// ReplaceTopics replaces all stored topics by the given ones. A topic that is already
	// stored keeps its origin and its creation time.
	ReplaceTopics(ctx context.Context, orgID string, topics []sending.Topic, at time.Time) error
	// ContactList returns the stored copy of the account's contact list. It fails with
	// core.CodeContactListNotSynced before the first sync.
	ContactList(ctx context.Context, orgID string) (ContactList, error)
}

// SubscriberStore reads and writes the consent of contacts for the sync. Every method reads
// and changes only data of the given organization. It takes part in the transaction of its
// context.
type SubscriberStore interface {
	// SubscriberByID and SubscriberByEmail return the contact with the id or the address,
	// even if it is archived. They fail with core.CodeNotFound if there is none.
	SubscriberByID(ctx context.Context, orgID, id string) (Subscriber, error)
	SubscriberByEmail(ctx context.Context, orgID, email string) (Subscriber, error)
	// MirroredAddresses returns one page of the active contacts, sorted by id. after is the
	// last id of the previous page, "" for the first page.
	MirroredAddresses(ctx context.Context, orgID, after string, limit int) ([]MirroredAddress, error)
	// MirrorConsent stores the consent of a page of the account's contacts. It updates known
	// contacts whose consent differs, creates a contact (a shell) for each unknown address,
	// and skips archived contacts. It also skips contacts that were written after asked, the
	// time of the request for the page. The page may be older than the write. touched has
	// the ids of the contacts that it created or changed.
	MirrorConsent(ctx context.Context, orgID string, page []sending.Contact, asked, at time.Time) (count Mirrored, touched []string, err error)
	// DropShell deletes a contact that only a sync has created (a shell) and that has no
	// activities. It does nothing for any other contact.
	DropShell(ctx context.Context, orgID, contactID string) error
}

// SyncStore stores Mailhelm's copy of the contact list, and the account notes (see
// [AccountNote]), for the sync. Every method sees only the given organization and takes
// part in the transaction of its context.
type SyncStore interface {
	// ContactList returns the stored copy of the account's contact list. It fails with
	// core.CodeContactListNotSynced before the first sync.
	ContactList(ctx context.Context, orgID string) (ContactList, error)
	SaveContactList(ctx context.Context, orgID string, l ContactList) error

	// AccountNotes returns at most limit notes (see [AccountNote]) that were stored before
	// the given time, oldest first.
	AccountNotes(ctx context.Context, orgID string, before time.Time, limit int) ([]AccountNote, error)
	// DropAccountNote deletes the account note with this id. It succeeds if the note is
	// already deleted.
	DropAccountNote(ctx context.Context, orgID, id string) error
}

// Mirrored has the numbers of contacts that MirrorConsent created, updated and left
// unchanged.
type Mirrored struct {
	Created, Updated, Unchanged int
}

// MirroredAddress has the part of an active contact that a sync needs to find contacts that
// the account lost.
type MirroredAddress struct {
	ContactID string
	Email     string
	Shell     bool
	UpdatedAt time.Time
}

// Subscriber is a contact with the data that the sync of topics compares with the sending
// account.
type Subscriber struct {
	ID string
	// Consent has the contact's address and the consent that Mailhelm has stored.
	Consent  sending.Contact
	Archived bool
	// Shell is true if the contact exists only because a sync found it in the account. Stub
	// is true if the contact is only known from activities.
	Shell, Stub          bool
	CreatedAt, UpdatedAt time.Time
}
