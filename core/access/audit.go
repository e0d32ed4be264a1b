package access

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// AuditEvent is one entry of the audit log. It refers to people and records by id only. It
// holds no email address, no secret and no argument of a call.
type AuditEvent struct {
	ID         string
	OrgID      string
	OccurredAt time.Time
	// Action is the name of the operation, or of a change such as "api_key.created".
	Action string
	// ActorKind is api_key, oauth_client, user, operator or system.
	ActorKind string
	ActorID   string
	Surface   core.Surface
	// SubjectID is the id of the changed record, "" when there is none.
	SubjectID string
	RequestID string
	// Detail is a JSON object, "{}" when there is nothing to add.
	Detail string
}

// Actor identifies the user, operator or background job that made a change.
type Actor struct {
	Kind string // user, operator or system
	ID   string
}

// Kinds of actors that do not use a credential of the API.
const (
	// Operator is an administrator with access to a shell and the database.
	Operator = "operator"
	// Person is a user who is signed in to the dashboard.
	Person = "user"
)

// ActorOf returns the operator for the id [Operator], and otherwise the user with this id.
func ActorOf(id string) Actor {
	if id == Operator {
		return Actor{Kind: Operator, ID: Operator}
	}
	return Actor{Kind: Person, ID: id}
}

// System returns the actor of background jobs.
func System() Actor { return Actor{Kind: "system", ID: "mailhelm"} }

// AuditEntry is an entry of the audit log before [RecordAudit] gives it an id and a time.
type AuditEntry struct {
	Actor   Actor
	Action  string
	OrgID   string
	Subject string // the id of the changed record, "" when there is none
	Detail  any    // marshaled to a JSON object; nil becomes {}
}

// Edited is the old and the new value of one setting, in the detail of an audit entry.
type Edited struct {
	Before any `json:"before"`
	After  any `json:"after"`
}

// AuditAppender appends to the audit log. It takes part in the transaction of its
// context.
type AuditAppender interface {
	AppendAudit(ctx context.Context, e AuditEvent) error
}

// RecordAudit appends an entry to the audit log. The entry gets the time now and a new id.
func RecordAudit(ctx context.Context, to AuditAppender, now time.Time, e AuditEntry) error {
	detail := []byte("{}")
	if e.Detail != nil {
		var err error
		if detail, err = json.Marshal(e.Detail); err != nil {
			return fmt.Errorf("audit detail of %s: %w", e.Action, err)
		}
	}
	return to.AppendAudit(ctx, AuditEvent{
		ID: core.NewID(), OrgID: e.OrgID, OccurredAt: now, Action: e.Action, ActorKind: e.Actor.Kind, ActorID: e.Actor.ID,
		SubjectID: e.Subject, Detail: string(detail),
	})
}

// AuditStore stores the audit log. Every method takes part in the transaction of its
// context.
type AuditStore interface {
	AuditAppender
	// FindAudit lists an organization's events that match the filter, newest first.
	// Events of the same time are ordered by id.
	FindAudit(ctx context.Context, orgID string, f AuditFilter) ([]AuditEvent, error)
}

// AuditFilter selects events of the audit log. A field with its zero value selects all
// events.
type AuditFilter struct {
	Action    string
	ActorID   string
	SubjectID string
	// From is the first matching instant. To is the end, which does not match.
	From, To time.Time
	// Before is the position of the last event of the previous page; nil starts with the
	// newest event.
	Before *AuditCursor
	// Limit is the maximum number of returned events. It is required.
	Limit int
}

// AuditCursor is the position of an event in the audit log.
type AuditCursor struct {
	OccurredAt time.Time
	ID         string
}
