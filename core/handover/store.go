package handover

import (
	"context"
	"time"
)

// Store stores the recipients of sends. Every method sees only the given organization and
// takes part in the transaction of its context. A change that does not apply to a recipient,
// by the rules of the methods of [Recipient], leaves it as it is.
type Store interface {
	// Add stores new recipients with their Key and Email as pending. It skips those whose key
	// the send has already.
	Add(ctx context.Context, orgID, sendID string, added []Recipient, now time.Time) error
	// Pending returns up to limit recipients that may be claimed, in the order of NotBefore
	// and Key. Inside a transaction it locks them until the transaction ends, and skips those
	// that other transactions have locked.
	Pending(ctx context.Context, orgID, sendID string, now time.Time, limit int) ([]Recipient, error)
	// Claim claims recipients for a process. Of each it needs Key and CreatedAt.
	Claim(ctx context.Context, orgID, sendID string, claimed []Recipient, process string, now time.Time) error
	// Filter filters recipients. Of each it needs Key, CreatedAt and Tier.
	Filter(ctx context.Context, orgID, sendID string, filtered []Recipient, now time.Time) error
	// Answer stores answers of the account.
	Answer(ctx context.Context, orgID, sendID string, answers []Answer, now time.Time) error
	// Observe stores that events of the provider name messages. It returns the number of
	// recipients that this changed.
	Observe(ctx context.Context, orgID string, seen []Evidence, now time.Time) (int, error)
	// GiveUp gives up to limit attempts whose outcome is unknown after Patience. It returns
	// their number.
	GiveUp(ctx context.Context, orgID string, now time.Time, limit int) (int, error)
	// Recipient returns a recipient. It fails with core.CodeNotFound if there is none.
	Recipient(ctx context.Context, orgID, sendID, key string) (Recipient, error)
	// FreeAt returns the time from which the account may be passed further messages; the zero
	// time if no message was passed yet.
	FreeAt(ctx context.Context, orgID string) (time.Time, error)
	// Reserve reserves the time for n messages, of which each takes the duration each, and
	// returns when the first may be passed: now, or after the messages that are reserved
	// already.
	Reserve(ctx context.Context, orgID string, n int, each time.Duration, now time.Time) (time.Time, error)
	// Pause lets the account be passed no further messages before the time until.
	Pause(ctx context.Context, orgID string, until time.Time) error
}

// Verdict is what the account did with the message of an attempt. The zero value is none, so
// that a forgotten field changes nothing.
type Verdict string

// The verdicts.
const (
	// Accepted: the account accepted the message and has the id Answer.MessageID for it.
	Accepted Verdict = "accepted"
	// Refused: the account did not accept the message and never will; see Answer.Reason.
	Refused Verdict = "refused"
	// Released: the account did not accept the message. It may be tried again at
	// Answer.NotBefore.
	Released Verdict = "released"
)

// Answer is the answer of the account about the message of an attempt.
type Answer struct {
	// Key, CreatedAt and Attempt are those of the recipient.
	Key       string
	CreatedAt time.Time
	Attempt   int
	Verdict   Verdict
	MessageID string
	Reason    string
	NotBefore time.Time
}

// answered returns an answer about the last attempt of a recipient.
func (r Recipient) answered(v Verdict) Answer {
	return Answer{Key: r.Key, CreatedAt: r.CreatedAt, Attempt: r.Attempt, Verdict: v}
}

// refused returns the answer that the account will never accept the message.
func (r Recipient) refused(reason string) Answer {
	a := r.answered(Refused)
	a.Reason = reason
	return a
}

// released returns the answer that the message may be tried again at a time.
func (r Recipient) released(notBefore time.Time) Answer {
	a := r.answered(Released)
	a.NotBefore = notBefore
	return a
}

// Evidence is an event of the provider that names the message of a recipient.
type Evidence struct {
	SendID, Key string
	MessageID   string
}
