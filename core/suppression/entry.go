package suppression

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Status is whether an address is judged undeliverable now.
type Status string

// The statuses. An excluded entry is what remains of a listed one.
const (
	Listed   Status = "listed"
	Excluded Status = "excluded"
)

// Entry is what is known of one address that is or was listed.
type Entry struct {
	Key           string // see [AddressKey]
	Email         string // as the first event spells it
	Status        Status
	Reason        Reason
	FirstSeenAt   time.Time
	LastSeenAt    time.Time
	LastChangedAt time.Time
	EventCount    int
	// ExcludedAt and ExclusionReason are of an excluded entry alone; nil and "".
	ExcludedAt      *time.Time
	ExclusionReason string
	// ForgivenAt is when a person last excluded the address. Events up to then do
	// not count any more.
	ForgivenAt *time.Time
}

// ID names the entry where its address should not stand: in the address of a page,
// in the audit log, in a cursor.
func (e Entry) ID() string { return entryID(e.Key) }

func entryID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// IsEntryID reports whether the text has the form of an entry's id.
func IsEntryID(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 16 && hex.EncodeToString(raw) == text
}

// excludedByPerson tells a tombstone that a person made from one of other rules.
func (e Entry) excludedByPerson() bool {
	return e.Status == Excluded && e.ForgivenAt != nil && e.ExcludedAt.Equal(*e.ForgivenAt)
}

// same reports whether both say the same, apart from when they changed.
func (e Entry) same(other Entry) bool {
	return e.Key == other.Key && e.Email == other.Email && e.Status == other.Status && e.Reason == other.Reason &&
		e.FirstSeenAt.Equal(other.FirstSeenAt) && e.LastSeenAt.Equal(other.LastSeenAt) && e.EventCount == other.EventCount &&
		sameTime(e.ExcludedAt, other.ExcludedAt) && e.ExclusionReason == other.ExclusionReason && sameTime(e.ForgivenAt, other.ForgivenAt)
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
