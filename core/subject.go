package core

// Subject says which records a write changes, as far as other calls compare it.
type Subject int

// The subjects of a write.
const (
	// OtherRecords are records about which no call asks who wrote them last.
	OtherRecords Subject = iota
	// OneContact is the contact that the call names with Call.About. A call that
	// changed none names none.
	OneContact
	// ManyContacts are contacts that the call does not name, such as all members of a
	// list that it deletes.
	ManyContacts
)

// ReplayScope says for how long a call without an idempotency key, made again by its
// caller over the agent surface, is answered with the first result.
type ReplayScope int

// The scopes of a derived replay.
const (
	// ReplayFiveMinutes is guardrail 2 as it stands.
	ReplayFiveMinutes ReplayScope = iota
	// ReplayUntilNextWrite is five minutes too, and ends earlier with the caller's next
	// write to the same record: what was said again after something else was said is
	// no repetition. Only an operation that writes OneContact may declare it.
	ReplayUntilNextWrite
)
