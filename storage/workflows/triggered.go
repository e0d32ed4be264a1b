package workflows

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// TriggerStore reads when triggers have happened.
type TriggerStore struct{ db *db.DB }

// NewTriggerStore returns the store of past triggers on the database.
func NewTriggerStore(on *db.DB) TriggerStore { return TriggerStore{on} }

// The statements below select contacts by the ends of their ids, which are random, so that a
// limit selects an even sample.
var (
	segmentTimes = db.Register("times of entering a segment", `
		SELECT m.contact_id AS id, m.entered_at AS at FROM segment_members AS m
		WHERE m.org_id = $1 AND m.segment_id = $2 AND m.entered_at >= $3 AND m.entered_at < $4
		ORDER BY substr(m.contact_id, 25) LIMIT $5`)
	activityTimes = db.Register("times of an activity", `
		SELECT a.contact_id AS id, a.occurred_at AS at FROM activities AS a
		WHERE a.org_id = $1 AND a.name = $2 AND a.occurred_at >= $3 AND a.occurred_at < $4 AND a.contact_id IN (
			SELECT contact_id FROM (
				SELECT DISTINCT b.contact_id, substr(b.contact_id, 25) AS place FROM activities AS b
				WHERE b.org_id = $1 AND b.name = $2 AND b.occurred_at >= $3 AND b.occurred_at < $4
			) AS found ORDER BY place LIMIT $5)
		ORDER BY a.occurred_at, a.id`)
	eventTimes = db.Register("times of an event", `
		SELECT c.id AS id, e.occurred_at AS at FROM message_events AS e JOIN contacts AS c ON c.org_id = e.org_id AND c.email_key = e.recipient_key
		WHERE e.org_id = $1 AND e.type = $2 AND e.occurred_at >= $3 AND e.occurred_at < $4 AND NOT e.test AND c.id IN (
			SELECT id FROM (
				SELECT DISTINCT d.id, substr(d.id, 25) AS place FROM message_events AS f JOIN contacts AS d ON d.org_id = f.org_id AND d.email_key = f.recipient_key
				WHERE f.org_id = $1 AND f.type = $2 AND f.occurred_at >= $3 AND f.occurred_at < $4 AND NOT f.test
			) AS found ORDER BY place LIMIT $5)
		ORDER BY e.occurred_at, e.id`)

	countSegmentTimes = db.Register("count contacts that entered a segment", `
		SELECT count(*) FROM segment_members AS m WHERE m.org_id = $1 AND m.segment_id = $2 AND m.entered_at >= $3 AND m.entered_at < $4`)
	countActivityTimes = db.Register("count contacts with an activity", `
		SELECT count(DISTINCT a.contact_id) FROM activities AS a WHERE a.org_id = $1 AND a.name = $2 AND a.occurred_at >= $3 AND a.occurred_at < $4`)
	countEventTimes = db.Register("count contacts with an event", `
		SELECT count(DISTINCT c.id) FROM message_events AS e JOIN contacts AS c ON c.org_id = e.org_id AND c.email_key = e.recipient_key
		WHERE e.org_id = $1 AND e.type = $2 AND e.occurred_at >= $3 AND e.occurred_at < $4 AND NOT e.test`)
)

type triggeredRow struct {
	ID string  `db:"id"`
	At db.Time `db:"at"`
}

// Triggered returns up to limit contacts for whom the trigger has happened since the time and
// before the other, with the times in their order.
func (s TriggerStore) Triggered(ctx context.Context, orgID string, t workflows.Trigger, since, until time.Time, limit int) (map[string][]time.Time, error) {
	statement, source, err := statementOf(t, segmentTimes, activityTimes, eventTimes)
	if err != nil {
		return nil, err
	}
	rows, err := db.List[triggeredRow](ctx, s.db, statement, orgID, source, storedMoment(since), db.At(until), limit)
	times := map[string][]time.Time{}
	for _, row := range rows {
		times[row.ID] = append(times[row.ID], row.At.Time())
	}
	return times, err
}

// CountTriggered returns the number of contacts for whom the trigger has happened since the
// time and before the other.
func (s TriggerStore) CountTriggered(ctx context.Context, orgID string, t workflows.Trigger, since, until time.Time) (int, error) {
	statement, source, err := statementOf(t, countSegmentTimes, countActivityTimes, countEventTimes)
	if err != nil {
		return 0, err
	}
	counts, err := db.Values[int](ctx, s.db, statement, orgID, source, storedMoment(since), db.At(until))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// statementOf returns the statement for the kind of a trigger, and the stored form of its source.
func statementOf(t workflows.Trigger, segment, activity, event *db.Statement) (statement *db.Statement, source string, err error) {
	switch t.Kind {
	case workflows.OnSegment:
		return segment, t.Source, nil
	case workflows.OnActivity:
		return activity, t.Source, nil
	case workflows.OnEvent:
		return event, string(eventTypes[t.Source]), nil
	}
	return nil, "", fmt.Errorf("storage: a trigger of the kind %s has no rows", t.Kind)
}
