package suppression

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Status says whether an address is undeliverable now.
type Status string

// The statuses of an address. Listed addresses are undeliverable. An Excluded address was
// undeliverable before and is not now.
const (
	Listed   Status = "listed"
	Excluded Status = "excluded"
)

// Entry is the state of an address that is, or was, on the list of undeliverable addresses.
type Entry struct {
	Key           string // see [AddressKey]
	Email         string // the address as spelled in the first event
	Status        Status
	Reason        Reason
	FirstSeenAt   time.Time
	LastSeenAt    time.Time
	LastChangedAt time.Time
	EventCount    int
	// ExcludedAt and ExclusionReason are set if Status is Excluded; otherwise they are nil
	// and "".
	ExcludedAt      *time.Time
	ExclusionReason string
	// ForgivenAt is the time at which a person last excluded the address, nil if that never
	// happened. Events up to then no longer count against the address.
	ForgivenAt *time.Time
}

// ID returns an id of the entry that does not reveal its address: half of a SHA-256 digest.
// It is used in URLs, the audit log and cursors.
func (e Entry) ID() string { return entryID(e.Key) }

func entryID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// IsEntryID reports whether text has the form of the id of an Entry.
func IsEntryID(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 16 && hex.EncodeToString(raw) == text
}

// excludedByPerson reports whether a person excluded the address. It returns false if a
// change of rules excluded the address, or if it is not excluded.
func (e Entry) excludedByPerson() bool {
	return e.Status == Excluded && e.ForgivenAt != nil && e.ExcludedAt.Equal(*e.ForgivenAt)
}

// isSame reports whether the entries are equal, ignoring LastChangedAt.
func (e Entry) isSame(other Entry) bool {
	return e.Key == other.Key && e.Email == other.Email && e.Status == other.Status && e.Reason == other.Reason &&
		e.FirstSeenAt.Equal(other.FirstSeenAt) && e.LastSeenAt.Equal(other.LastSeenAt) && e.EventCount == other.EventCount &&
		isSameTime(e.ExcludedAt, other.ExcludedAt) && e.ExclusionReason == other.ExclusionReason && isSameTime(e.ForgivenAt, other.ForgivenAt)
}

func isSameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
