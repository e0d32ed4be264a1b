package topics

import "time"

// noteGrace is the longest time between a note and the commit of its write. A sync skips
// younger notes. An older one belongs to a write that failed or was interrupted.
const noteGrace = time.Minute

// AccountNote records a write of a contact that is about to change the account. It is
// deleted in the transaction of the write. A note that remains means that the account and
// the mirror may differ. Only writes that archive, reactivate or move a contact store one,
// because a sync cannot interpret their effect at the account. The effect of any other write
// is the person's latest choice, which the sync copies.
type AccountNote struct {
	ID        string
	ContactID string
	// Put is an address that the account does not list before the write, "" for none.
	Put     string
	NotedAt time.Time
}
