package core

// Subject tells which records a write changes. Replays of other calls depend on it.
type Subject int

// The subjects of a write.
const (
	// OtherRecords are records that no replay depends on.
	OtherRecords Subject = iota
	// OneContact is the contact that the call passed to Call.SetSubject. A call that changed
	// no contact passes none.
	OneContact
	// ManyContacts are contacts that the call does not name, such as all members of a
	// list that it deletes.
	ManyContacts
)

// ReplayScope tells how long a repeated call without an idempotency key gets the first
// result, on the agent surface.
type ReplayScope int

// The scopes of a replay without an idempotency key.
const (
	// ReplayFiveMinutes ends after five minutes.
	ReplayFiveMinutes ReplayScope = iota
	// ReplayUntilNextWrite also ends after five minutes, and earlier with the caller's next
	// write to the same record. A call after another write is meant as a new call. Only an
	// operation that writes OneContact may declare it.
	ReplayUntilNextWrite
)
