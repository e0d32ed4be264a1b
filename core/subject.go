package core

// Subject is the kind of record that a write changes. After a write of a contact, repeated
// calls no longer get the stored results of earlier writes of that contact; see
// [ReplayUntilNextWrite].
type Subject int

// The kinds of records that a write changes.
const (
	// OtherRecords are records other than contacts. Writing them deletes no stored result of
	// an earlier call.
	OtherRecords Subject = iota
	// OneContact is the contact whose id the call passed to Call.SetSubject. A call that
	// changed no contact passes none.
	OneContact
	// ManyContacts are contacts that the call does not name, such as all members of a list
	// that it deletes.
	ManyContacts
)

// ReplayScope is for how long a repeated call of an agent without an idempotency key gets
// the result of the first call.
type ReplayScope int

// The values of ReplayScope: how long a call of an agent without an idempotency key is
// answered with the result of an earlier equal call.
const (
	// ReplayFiveMinutes ends after five minutes.
	ReplayFiveMinutes ReplayScope = iota
	// ReplayUntilNextWrite ends the replay after five minutes, or earlier with the caller's
	// next write to the same contact or to many contacts. A repeated call after that write
	// is taken as a new call. Only an operation whose Writes is OneContact may declare it.
	ReplayUntilNextWrite
)
