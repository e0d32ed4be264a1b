package approvals

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// State is the state of an approval.
type State string

// The states of an approval. All but Pending are final.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Rejected State = "rejected"
	// Voided: the broadcast was changed, cancelled, deleted or sent before the decision.
	Voided  State = "voided"
	Expired State = "expired"
	// Unneeded records who asked for a scheduled send that no policy held back, for the
	// comparison at its start. Callers do not see it.
	Unneeded State = "unneeded"
)

// Life is how long an approval waits for a decision.
const Life = 72 * time.Hour

// Caller is the caller that asked for a send.
type Caller struct {
	Kind core.CredentialKind
	ID   string
	// UserID is the person for whom an application acted, "" for none.
	UserID string
}

// Application returns the id of the application that asked, "" for a key or a person.
func (c Caller) Application() string {
	if c.Kind == core.OAuthClient {
		return c.ID
	}
	return ""
}

// Preview has what a send would do. It is stored as JSON.
type Preview struct {
	Name         string  `json:"name"`
	Audience     string  `json:"audience"`
	AudienceKind string  `json:"audience_kind"`
	AudienceSize int     `json:"audience_size"`
	Mailable     int     `json:"mailable"`
	ByAccount    int     `json:"filtered_by_account"`
	ByTopic      int     `json:"filtered_by_topic"`
	Topic        *string `json:"topic_id"`
	From         string  `json:"from"`
	Subject      string  `json:"subject"`
	// Blank has the numbers of members for whom a variable renders blank.
	Blank []Blank `json:"blank"`
}

// Blank is a variable that renders blank for some members of an audience.
type Blank struct {
	Variable string `json:"variable"`
	Members  int    `json:"recipients"`
}

// Approval is a send that waits for a person, or the decision about it. All fields but State
// and those of the decision are as they were when the send was asked for.
type Approval struct {
	ID          string
	BroadcastID string
	State       State
	// AskedBy is the caller that asked for the send.
	AskedBy     Caller
	RequestedAt time.Time
	ExpiresAt   time.Time
	// Revision is the revision of the broadcast, and ScheduledAt the time of the send, nil for
	// at once.
	Revision    int
	ScheduledAt *time.Time
	// Digest is a hash of the content, the audience and the topic.
	Digest string
	// Preview has what the send would have done.
	Preview Preview

	// The decision, from the end of the state Pending on. DecidedBy is a user, "" for an end
	// without a person. Reason is a text of the person who rejected, or why it was voided as a
	// word of package broadcasts.
	DecidedAt *time.Time
	DecidedBy string
	Reason    string
	// ApprovedSize is the number of members of the audience that a person approved.
	ApprovedSize int
}

// At returns the approval as it is at a time: one that waits ends after its life, even
// before the job has stored that.
func (a Approval) At(now time.Time) Approval {
	if a.State == Pending && !now.Before(a.ExpiresAt) {
		a.State, a.DecidedAt = Expired, &a.ExpiresAt
	}
	return a
}

// IsSame reports whether the approval is about the same content and audience, by their
// hash, and about the same time, nil for at once.
func (a Approval) IsSame(digest string, at *time.Time) bool {
	if a.Digest != digest || (a.ScheduledAt == nil) != (at == nil) {
		return false
	}
	return at == nil || a.ScheduledAt.Equal(*at)
}
