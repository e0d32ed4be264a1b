package access

import (
	"context"
	"math"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// auditStore is [access.AuditStore].
type auditStore struct{ db *engine.DB }

// auditRow is an event of the audit log. Rows are only inserted, never changed.
type auditRow struct {
	ID         string       `db:"id"`
	OrgID      string       `db:"org_id"`
	OccurredAt engine.Time  `db:"occurred_at"`
	Action     string       `db:"action"`
	ActorKind  string       `db:"actor_kind"`
	ActorID    string       `db:"actor_id"`
	Surface    core.Surface `db:"surface"`
	SubjectID  string       `db:"subject_id"`
	RequestID  string       `db:"request_id"`
	Detail     string       `db:"detail"`
}

// auditColumns lists the columns of audit_events: first those of the primary key, then the
// others.
const auditColumns = `org_id, occurred_at, id, action, actor_kind, actor_id, surface, subject_id, request_id, detail`

var (
	appendAudit = engine.Register("append audit", `
		INSERT INTO audit_events (`+auditColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`)
	// The statements for finding audit events differ only in the first condition, which
	// chooses the index: the primary key, audit_events_by_action or audit_events_by_actor.
	// With one common statement SQLite, which has no statistics, could choose a wrong index.
	findAudit         = engine.Register("find audit", findAuditWhere(`CAST($2 AS text) = ''`))
	findAuditByAction = engine.Register("find audit by action", findAuditWhere(`action = $2`))
	findAuditByActor  = engine.Register("find audit by actor", findAuditWhere(`actor_id = $2`))
)

// findAuditWhere returns the statement for one page of the audit log, newest first, with
// events before the time $3 and the id $4. first is the condition that selects the index.
func findAuditWhere(first string) string {
	return `
		SELECT ` + auditColumns + ` FROM audit_events
		WHERE org_id = $1 AND ` + first + ` AND (occurred_at, id) < ($3, $4) AND occurred_at >= $5
		AND (CAST($6 AS text) = '' OR action = $6) AND (CAST($7 AS text) = '' OR subject_id = $7)
		ORDER BY occurred_at DESC, id DESC LIMIT $8`
}

func (s auditStore) AppendAudit(ctx context.Context, e access.AuditEvent) error {
	return s.db.Later(ctx, appendAudit, e.OrgID, engine.At(e.OccurredAt), e.ID, e.Action, e.ActorKind, e.ActorID,
		string(e.Surface), e.SubjectID, e.RequestID, e.Detail)
}

// FindAudit returns the audit events that match f, newest first. A filter by actor or by
// action uses its own index; the other conditions are tested for each event.
func (s auditStore) FindAudit(ctx context.Context, orgID string, f access.AuditFilter) ([]access.AuditEvent, error) {
	by, first := findAudit, ""
	switch {
	case f.ActorID != "":
		by, first = findAuditByActor, f.ActorID
	case f.Action != "":
		by, first = findAuditByAction, f.Action
	}
	before, id := endOfLog(f)
	from := engine.Time(math.MinInt64)
	if !f.From.IsZero() {
		from = engine.At(f.From)
	}
	return s.audit(ctx, by, orgID, first, before, id, from, f.Action, f.SubjectID, f.Limit)
}

// endOfLog returns the position at which a page of the audit log begins, as a time and an
// id. The page, newest first, has only events before it. The position is the end of the
// filter's time range, or the cursor if the cursor is earlier.
func endOfLog(f access.AuditFilter) (engine.Time, string) {
	end, id := engine.Time(math.MaxInt64), ""
	if !f.To.IsZero() {
		end = engine.At(f.To)
	}
	if f.Before != nil && engine.At(f.Before.OccurredAt) < end {
		end, id = engine.At(f.Before.OccurredAt), f.Before.ID
	}
	return end, id
}

// audit returns the audit events that the statement selects, in the order of the statement.
func (s auditStore) audit(ctx context.Context, by *engine.Statement, args ...any) ([]access.AuditEvent, error) {
	return engine.ListAs(ctx, s.db, auditRow.auditEvent, by, args...)
}

// auditEvent converts the row to an access.AuditEvent.
func (r auditRow) auditEvent() access.AuditEvent {
	return access.AuditEvent{
		ID: r.ID, OrgID: r.OrgID, OccurredAt: r.OccurredAt.Time(), Action: r.Action, ActorKind: r.ActorKind,
		ActorID: r.ActorID, Surface: r.Surface, SubjectID: r.SubjectID, RequestID: r.RequestID, Detail: r.Detail,
	}
}
