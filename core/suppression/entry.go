package suppression

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Status says whether an address is judged undeliverable now.
type Status string

// The statuses. An excluded entry is one that was listed before.
const (
	Listed   Status = "listed"
	Excluded Status = "excluded"
)

// Entry is the state of one address that is or was listed as undeliverable.
type Entry struct {
	Key           string // see [AddressKey]
	Email         string // in the spelling of the first event
	Status        Status
	Reason        Reason
	FirstSeenAt   time.Time
	LastSeenAt    time.Time
	LastChangedAt time.Time
	EventCount    int
	// ExcludedAt and ExclusionReason are set on an excluded entry only; otherwise nil
	// and "".
	ExcludedAt      *time.Time
	ExclusionReason string
	// ForgivenAt is when a person last took the address off the list of undeliverable ones.
	// Events up to then no longer count against it.
	ForgivenAt *time.Time
}

// ID returns a name of the entry without its address, for URLs of pages, the audit log
// and cursors.
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

// excludedByPerson reports whether a person excluded the entry, rather than a change of
// rules.
func (e Entry) excludedByPerson() bool {
	return e.Status == Excluded && e.ForgivenAt != nil && e.ExcludedAt.Equal(*e.ForgivenAt)
}

// isSame reports whether both entries are equal, apart from the time of their last change.
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
