package access

import "time"

// AuditFilter narrows the audit log. The zero value of a member leaves it out.
type AuditFilter struct {
	Action    string
	ActorID   string
	SubjectID string
	// From is the first instant, To the first that is too late.
	From, To time.Time
	// Before is the last event of the page before.
	Before *AuditCursor
	// Limit is how many at most; it is required.
	Limit int
}

// AuditCursor is the place of an event in the log.
type AuditCursor struct {
	OccurredAt time.Time
	ID         string
}

// Cursor is the place of the event.
func (e AuditEvent) Cursor() AuditCursor { return AuditCursor{OccurredAt: e.OccurredAt, ID: e.ID} }
