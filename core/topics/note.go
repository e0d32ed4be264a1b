package topics

import "time"

// noteGrace is how long a write of a contact may take from storing its [AccountNote] to its
// commit. A sync ignores notes that are younger. An older note belongs to a write that
// failed or was interrupted.
const noteGrace = time.Minute

// AccountNote is stored before a write of a contact changes the account, and deleted in
// the transaction of that write. A note that remains shows that the account and Mailhelm's
// copy may differ. Only writes that archive or reactivate a contact, or change its
// address, store a note: a sync cannot see in the account whether such a write failed.
// Other writes change only consent. If their transaction fails, the sync copies the
// consent from the account, because it is the person's latest choice.
type AccountNote struct {
	ID        string
	ContactID string
	// Put is an address that the write adds to the account's contact list, or "" if it adds
	// none.
	Put     string
	NotedAt time.Time
}
