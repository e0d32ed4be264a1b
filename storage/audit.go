package storage

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

type auditRow struct {
	ID         string       `db:"id"`
	OrgID      string       `db:"org_id"`
	OccurredAt Time         `db:"occurred_at"`
	Action     string       `db:"action"`
	ActorKind  string       `db:"actor_kind"`
	ActorID    string       `db:"actor_id"`
	Surface    core.Surface `db:"surface"`
	SubjectID  string       `db:"subject_id"`
	RequestID  string       `db:"request_id"`
	Detail     string       `db:"detail"`
}

const auditColumns = `org_id, occurred_at, id, action, actor_kind, actor_id, surface, subject_id, request_id, detail`

var (
	appendAudit = register("append audit", `
		INSERT INTO audit_events (`+auditColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`)
	auditEvents = register("audit events", `
		SELECT `+auditColumns+` FROM audit_events WHERE org_id = $1 ORDER BY occurred_at DESC, id DESC LIMIT $2`)
)

func (s accessStore) AppendAudit(ctx context.Context, e access.AuditEvent) error {
	_, err := s.db.exec(ctx, appendAudit, e.OrgID, At(e.OccurredAt), e.ID, e.Action, e.ActorKind, e.ActorID,
		string(e.Surface), e.SubjectID, e.RequestID, e.Detail)
	return err
}

func (s accessStore) AuditEvents(ctx context.Context, orgID string, limit int) ([]access.AuditEvent, error) {
	rows, err := list[auditRow](ctx, s.db, auditEvents, orgID, limit)
	if err != nil {
		return nil, err
	}
	events := make([]access.AuditEvent, len(rows))
	for i, r := range rows {
		events[i] = access.AuditEvent{
			ID: r.ID, OrgID: r.OrgID, OccurredAt: r.OccurredAt.Time(), Action: r.Action, ActorKind: r.ActorKind,
			ActorID: r.ActorID, Surface: r.Surface, SubjectID: r.SubjectID, RequestID: r.RequestID, Detail: r.Detail,
		}
	}
	return events, nil
}
