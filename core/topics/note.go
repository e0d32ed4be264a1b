package topics

import "time"

// noteGrace is how long a write may take between its note and its commit. A sync skips
// younger notes; an older one belongs to a write that failed or was cut off.
const noteGrace = time.Minute

// AccountNote is stored by a write of a contact before it changes the account, and
// deleted in the transaction of the write. A note that stays shows that the account may
// have what the mirror does not. Only writes whose effect at the account a sync cannot
// interpret store one: those that archive, reactivate or move a contact. The effect of
// any other write is the person's latest choice, and the sync takes it over.
type AccountNote struct {
	ID        string
	ContactID string
	// Put is an address that the account does not list before the write, "" for none.
	Put     string
	NotedAt time.Time
}
