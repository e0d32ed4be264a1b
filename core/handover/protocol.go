package handover

import "time"

// Each method below returns the row after a change, and false if the change does not apply.
// The row is then unchanged.

// Claim begins an attempt to pass the message to the account. The worker may call the account
// only after the claim is committed, and at most once.
func (r Recipient) Claim(process string, now time.Time) (Recipient, bool) {
	if r.State != Pending || now.Before(r.NotBefore) {
		return r, false
	}
	r.State, r.ClaimedBy, r.At = HandingOver, process, now
	r.Attempt++
	return r, true
}

// Filter ends a pending recipient that must not get the message.
func (r Recipient) Filter(tier Tier, now time.Time) (Recipient, bool) {
	if r.State != Pending {
		return r, false
	}
	r.State, r.Tier, r.At = Filtered, tier, now
	return r, true
}

// Accept stores that the account accepted the message of an attempt. It applies also if the
// attempt was given up before.
func (r Recipient) Accept(attempt int, messageID string, now time.Time) (Recipient, bool) {
	if r.Attempt != attempt || r.State != HandingOver && !r.isGivenUp() {
		return r, false
	}
	return r.sent(messageID, now), true
}

// Refuse stores that the account did not accept the message of an attempt, and that it never
// will.
func (r Recipient) Refuse(attempt int, reason string, now time.Time) (Recipient, bool) {
	if r.Attempt != attempt || r.State != HandingOver && !r.isGivenUp() {
		return r, false
	}
	r.State, r.Reason, r.At = Failed, reason, now
	return r, true
}

// Release stores that the account did not accept the message of an attempt, but may accept it
// later. It must not be called if the outcome is unknown. An attempt that was given up stays
// failed: its outcome may have been shown already.
func (r Recipient) Release(attempt int, notBefore, now time.Time) (Recipient, bool) {
	if r.Attempt != attempt || r.State != HandingOver {
		return r, false
	}
	r.State, r.NotBefore, r.At = Pending, notBefore, now
	return r, true
}

// Observe stores that an event of the provider names the message, which proves that the
// account accepted it. It applies in every state but sent and filtered: also to a pending
// recipient, which must not be claimed again.
func (r Recipient) Observe(messageID string, now time.Time) (Recipient, bool) {
	if r.State == Sent || r.State == Filtered {
		return r, false
	}
	return r.sent(messageID, now), true
}

// GiveUp ends an attempt whose outcome is still unknown after Patience.
func (r Recipient) GiveUp(now time.Time) (Recipient, bool) {
	if r.State != HandingOver || now.Before(r.At.Add(Patience)) {
		return r, false
	}
	r.State, r.Reason, r.At = Failed, OutcomeUnknown, now
	return r, true
}

func (r Recipient) isGivenUp() bool { return r.State == Failed && r.Reason == OutcomeUnknown }

func (r Recipient) sent(messageID string, now time.Time) Recipient {
	r.State, r.MessageID, r.Reason, r.At = Sent, messageID, "", now
	return r
}
