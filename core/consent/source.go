package consent

import (
	"strings"
	"time"
)

// Source says who changed a choice. It is the caller of an operation (see
// core.Principal.Caller), a result of [ByImport], or one of the constants below. It contains
// only ids, so it may be stored.
type Source string

const (
	// ByAccount means that the change was found at the sending account: a recipient used an
	// unsubscribe link, or another program wrote to the account.
	ByAccount Source = "account"
	// ByCommand means that the command `mailhelm import contacts` made the change.
	ByCommand Source = "command"
	// ByRecipient means that the recipient used the unsubscribe link of a mail, or the page
	// of preferences that it leads to.
	ByRecipient Source = "recipient"
	// importPrefix is the beginning of the results of ByImport.
	importPrefix = "import/"
)

// ByImport returns the source of changes by the import of a file that the user uploaded.
func ByImport(userID string) Source { return Source(importPrefix + userID) }

// ImportedBy returns the id of the user who uploaded the file with the change. It returns
// false if the source is not an uploaded file.
func (s Source) ImportedBy() (string, bool) {
	return strings.CutPrefix(string(s), importPrefix)
}

// Caller returns the ids of the credential and of the user that made the change by calling
// an operation. The user is "" for a credential that acts for no user; for a person who is
// signed in, both are the user's id. It returns false for every other source.
func (s Source) Caller() (credentialID, userID string, called bool) { //nolint:nonamedreturns // says which
	if _, imported := s.ImportedBy(); imported {
		return "", "", false
	}
	return strings.Cut(string(s), "/")
}

// Change says when and by whom a choice got its present value.
type Change struct {
	// At is the time of the change in microseconds since 1970.
	At int64  `json:"at"`
	By Source `json:"by"`
}

// ChangeAt returns a change at this time, which is rounded down to microseconds.
func ChangeAt(at time.Time, by Source) Change { return Change{at.UnixMicro(), by} }

// Time returns the time of the change.
func (c Change) Time() time.Time { return time.UnixMicro(c.At).UTC() }

// accountChange returns a change at the sending account, at the time updated unless that is
// unknown (zero) or after now.
func accountChange(updated, now time.Time) Change {
	if updated.IsZero() || updated.After(now) {
		updated = now
	}
	return ChangeAt(updated, ByAccount)
}
