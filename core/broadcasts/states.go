package broadcasts

import "time"

// State is the state of a broadcast.
type State string

// The states of a broadcast.
const (
	Draft     State = "draft"
	Scheduled State = "scheduled"
	Sending   State = "sending"
	Sent      State = "sent"
	// PartiallyFailed means that the send ended and at least one recipient failed.
	PartiallyFailed State = "partially_failed"
	Cancelled       State = "cancelled"
)

// States returns all states, in the order in which a broadcast has them.
func States() []State {
	return []State{Draft, Scheduled, Sending, Sent, PartiallyFailed, Cancelled}
}

// IsOver reports whether the broadcast was sent or cancelled.
func (s State) IsOver() bool { return s == Sent || s == PartiallyFailed || s == Cancelled }

// AudienceKind is the kind of set whose members get a broadcast.
type AudienceKind string

// The kinds of audiences.
const (
	List    AudienceKind = "list"
	Segment AudienceKind = "segment"
)

// PauseReason says why a broadcast in the state sending or scheduled waits.
type PauseReason string

// The reasons. A person ends the pauses PausedByPerson and PausedByFault; the others end by
// themselves when their cause ends.
const (
	NotPaused       PauseReason = ""
	PausedByPerson  PauseReason = "person"
	PausedByCap     PauseReason = "daily_cap"
	PausedByStop    PauseReason = "all_mail_stopped"
	PausedByAccount PauseReason = "account"
	// PausedByFault: a scheduled broadcast could not start.
	PausedByFault PauseReason = "cannot_be_sent"
)

// Pause says why and since when a broadcast waits.
type Pause struct {
	Reason PauseReason `json:"reason" jsonschema:"enum=person,enum=daily_cap,enum=all_mail_stopped,enum=account,enum=cannot_be_sent"`
	Since  time.Time   `json:"since"`
	// ResumesAt is the time at which it goes on by itself, nil if that is not known.
	ResumesAt *time.Time `json:"resumes_at" jsonschema:"nullable" jsonschema_description:"When it goes on by itself, if known."`
}

// Author is the caller that created a broadcast.
type Author struct {
	Kind string // api_key, oauth_client or user
	ID   string
	// UserID is the person for whom an application acted, "" for none.
	UserID string
}

// Broadcast is a message to a list or a segment, and the state of its send.
type Broadcast struct {
	ID   string
	Name string

	// Template is the slug of a template, "" for inline content. TemplateVersion is a number
	// of its versions, 0 for the newest.
	Template        string
	TemplateVersion int
	// HTML and Text are inline content, "" with a template.
	HTML, Text string
	// Subject is "" for the subject of the template.
	Subject, PreviewText string
	// Data has values of variables for all recipients.
	Data map[string]any

	Target
	// Topic is the name of a topic, "" for none.
	Topic string
	// From is an address, with or without a display name; "" for the default sender.
	From string

	State      State
	ScheduleAt *time.Time
	// Rate is the maximum number of messages a minute, 0 for no limit but the account's.
	Rate   int
	Paused *Pause
	// PacedAt is the time from which Rate permits the next message.
	PacedAt time.Time
	// Frozen is the content of the messages as JSON, from the start of the send on; "" before.
	Frozen string

	// AudienceSize is the number of recipients from the start of the send on, nil before. The
	// counts below it are of the recipients with an outcome.
	AudienceSize           *int
	Sent, Failed, Filtered int

	StartedAt, CompletedAt *time.Time
	CreatedAt, UpdatedAt   time.Time
	CreatedBy              Author
	// Application is the id of the OAuth client that asked for the send, whose daily cap
	// applies; "" for a key or a person.
	Application string
	// Revision counts the changes by callers. A change states the revision that it changes.
	Revision int
}

// UsesTemplate reports whether the content comes from a template.
func (b Broadcast) UsesTemplate() bool { return b.Template != "" }

// IsPaused reports whether the broadcast waits for a reason that only a person ends.
func (b Broadcast) IsPaused() bool { return b.Paused != nil && b.Paused.Reason == PausedByPerson }
