package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/broadcasts"
)

// State is the state of an approval.
type State string

// The states of an approval. All but Pending are final.
const (
	Pending  State = broadcasts.ApprovalPending
	Approved State = broadcasts.ApprovalApproved
	Rejected State = broadcasts.ApprovalRejected
	// Voided: the broadcast was changed, cancelled, deleted or sent before the decision.
	Voided  State = broadcasts.ApprovalVoided
	Expired State = broadcasts.ApprovalExpired
	// Unneeded records who asked for a scheduled send that no policy held back, for the
	// comparison at its start. Callers do not see it.
	Unneeded State = "unneeded"
)

// Life is how long an approval waits for a decision.
const Life = 72 * time.Hour

// Approval is a send that waits for a person, or the decision about it. All fields but State
// and those of the decision are as they were when the send was asked for.
type Approval struct {
	ID          string
	BroadcastID string
	State       State
	// AskedBy is the caller that asked for the send.
	AskedBy     broadcasts.Author
	RequestedAt time.Time
	ExpiresAt   time.Time
	// Revision is the revision of the broadcast, and ScheduledAt the time of the send, nil for
	// at once.
	Revision    int
	ScheduledAt *time.Time
	// Digest is a hash of the content, the audience and the topic.
	Digest string
	// Preview has what the send would have done.
	Preview broadcasts.SendPreview

	// The decision, from the state Pending on. DecidedBy is a user, "" for an end without a
	// person. Reason is a text of the person who rejected, or a broadcasts.VoidCause.
	DecidedAt *time.Time
	DecidedBy string
	Reason    string
	// ApprovedSize is the number of members of the audience that a person approved.
	ApprovedSize int
}

// at returns the approval as it is at a time: one that waits ends after its life, even
// before the job has stored that.
func (a Approval) at(now time.Time) Approval {
	if a.State == Pending && !now.Before(a.ExpiresAt) {
		a.State, a.DecidedAt = Expired, &a.ExpiresAt
	}
	return a
}

// isSame reports whether the approval is about the same content, audience and time.
func (a Approval) isSame(digest string, at *time.Time) bool {
	if a.Digest != digest || (a.ScheduledAt == nil) != (at == nil) {
		return false
	}
	return at == nil || a.ScheduledAt.Equal(*at)
}

// DigestOf returns the hash of what a person approves: what the messages share, the list or
// segment with the chosen share of it, and the topic. Two sends with the same hash differ at
// most in the members of the audience and in their attributes.
func DigestOf(b broadcasts.Broadcast, p broadcasts.SendPreview) (string, error) {
	text, err := json.Marshal(struct {
		Content string
		Target  broadcasts.Target
		Topic   string
	}{p.Content, b.Target, b.Topic})
	if err != nil {
		return "", fmt.Errorf("approvals: digest: %w", err)
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:]), nil
}

// voidWords are the causes in words, for people and for callers.
var voidWords = map[broadcasts.VoidCause]string{
	broadcasts.VoidedByEdit:   "The broadcast was edited.",
	broadcasts.VoidedByCancel: "The broadcast was cancelled.",
	broadcasts.VoidedByDelete: "The broadcast was deleted.",
	broadcasts.VoidedBySend:   "The broadcast was sent by a caller who needs no approval.",
	broadcasts.VoidedByAsking: "The send was asked for again, with other content or for another time.",
}

// Words returns the reason of the decision as a text, "" for none.
func (a Approval) Words() string {
	if a.State == Voided {
		return voidWords[broadcasts.VoidCause(a.Reason)]
	}
	return a.Reason
}
