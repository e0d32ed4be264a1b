package segments

import "context"

// ChangeStore stores what the jobs of this package read: which contacts have changed since
// they were last evaluated, and a copy of the sending account's suppression list. Every
// method sees only the given organization and takes part in the transaction of ctx.
type ChangeStore interface {
	// Touch stores a note that each of these contacts has changed. TouchRecipients does so
	// for the contacts whose lower-case address is in keys, unless the organization has no
	// active segment. Touches returns the oldest notes. Untouch deletes notes by their ids.
	Touch(ctx context.Context, orgID string, contactIDs []string) error
	TouchRecipients(ctx context.Context, orgID string, keys []string) error
	Touches(ctx context.Context, orgID string, limit int) ([]Touch, error)
	Untouch(ctx context.Context, orgID string, ids []string) error

	// ReplaceSuppressed replaces the stored copy of the sending account's suppression list.
	// keys are the addresses of the new copy, in lower case.
	ReplaceSuppressed(ctx context.Context, orgID string, keys []string) error
	// AddSuppressed adds addresses to the copy, in the form of core.EmailKey.
	AddSuppressed(ctx context.Context, orgID string, keys []string) error
}

// Touch is a stored note that a contact has changed and has to be evaluated.
type Touch struct{ ID, ContactID string }
