package core

// Subject says which records a write changes, as far as the replay of other calls depends on
// it.
type Subject int

// The subjects of a write.
const (
	// OtherRecords are records that no replay depends on.
	OtherRecords Subject = iota
	// OneContact is the contact that the call names with Call.About. A call that changed no
	// contact names none.
	OneContact
	// ManyContacts are contacts that the call does not name, such as all members of a
	// list that it deletes.
	ManyContacts
)

// ReplayScope says how long a call without an idempotency key, repeated by its caller over
// the agent surface, is answered with the first result.
type ReplayScope int

// The scopes of a derived replay.
const (
	// ReplayFiveMinutes is guardrail 2 unchanged.
	ReplayFiveMinutes ReplayScope = iota
	// ReplayUntilNextWrite also ends after five minutes, and earlier with the caller's next
	// write to the same record: the same statement after another one is a new statement.
	// Only an operation that writes OneContact may declare it.
	ReplayUntilNextWrite
)
