package senders

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The limits of codes.
const (
	// CodeLifetime is how long a code is valid after the start of the verification.
	CodeLifetime = 15 * time.Minute
	// MaxWrongCodes is the number of wrong codes that locks a claim.
	MaxWrongCodes = 5
	// StartsPerHour is the maximum number of codes that one owner may request in an hour, in
	// all organizations together.
	StartsPerHour = 5
	// CodesPerHour and CodesPerDay are the maximum numbers of codes for one mailbox, from
	// all owners and organizations together.
	CodesPerHour = 5
	CodesPerDay  = 20
)

// The limits of starts.
var (
	ownerLimits   = []StartLimit{{StartsPerHour, time.Hour}}
	mailboxLimits = []StartLimit{{CodesPerHour, time.Hour}, {CodesPerDay, countedFor}}
)

// countedFor is the longest duration of a limit. Counts of earlier starts are deleted.
const countedFor = 24 * time.Hour

// Status is the state of a claim.
type Status string

// The values of Status. A claim stays pending after its code has expired.
const (
	Pending  Status = "pending"
	Locked   Status = "locked" // after MaxWrongCodes wrong codes; starting again ends it
	Verified Status = "verified"
)

// Claim is an address that its owner has proven or wants to prove.
type Claim struct {
	ID    string // UUID
	Owner string // see [core.Principal.Owner]
	// Email is the address in the spelling of the latest start. Addresses that differ only in
	// case are the same address.
	Email string
	// StartID is the id of the latest start. A code is valid only for the start for which it
	// was made.
	StartID string
	// CodeHash is the keyed hash of the code, nil until the code exists and after the address
	// is verified.
	CodeHash      []byte
	CodeExpiresAt time.Time
	// WrongCodes is the number of wrong codes since the latest start.
	WrongCodes int
	VerifiedAt *time.Time // nil for an address that is not verified
	CreatedAt  time.Time
}

// Status returns the state of the claim.
func (c Claim) Status() Status {
	switch {
	case c.VerifiedAt != nil:
		return Verified
	case c.WrongCodes >= MaxWrongCodes:
		return Locked
	}
	return Pending
}

// hasLapsed reports whether the claim is not verified and its code has expired. Another person
// may then claim the address.
func (c Claim) hasLapsed(now time.Time) bool {
	return c.VerifiedAt == nil && !now.Before(c.CodeExpiresAt)
}

// start begins a new verification of a claim that is not verified.
func (c *Claim) start(email string, now time.Time) {
	c.Email, c.StartID, c.CodeHash, c.WrongCodes = email, core.NewID(), nil, 0
	c.CodeExpiresAt = now.Add(CodeLifetime)
}

// verify ends the verification.
func (c *Claim) verify(now time.Time) { c.VerifiedAt, c.CodeHash, c.WrongCodes = &now, nil, 0 }

// VerifiedSender is a claim as callers see it.
type VerifiedSender struct {
	ID            string     `json:"id" jsonschema:"format=uuid"`
	Email         string     `json:"email" voice:"untrusted" jsonschema_description:"The claimed address."`
	Status        Status     `json:"status" jsonschema:"enum=pending,enum=locked,enum=verified" jsonschema_description:"pending: the code was mailed and not entered yet. locked: five wrong codes were entered, start again. verified: the address is proven."`
	CodeExpiresAt *time.Time `json:"code_expires_at,omitempty" jsonschema_description:"When the mailed code expires. Absent for a verified address."`
	VerifiedAt    *time.Time `json:"verified_at,omitempty" jsonschema_description:"When the address was verified. Absent before."`
	CreatedAt     time.Time  `json:"created_at"`
}

// view returns the claim as callers see it.
func (c Claim) view() VerifiedSender {
	v := VerifiedSender{ID: c.ID, Email: c.Email, Status: c.Status(), VerifiedAt: c.VerifiedAt, CreatedAt: c.CreatedAt}
	if c.VerifiedAt == nil {
		v.CodeExpiresAt = &c.CodeExpiresAt
	}
	return v
}
