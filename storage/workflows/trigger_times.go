package workflows

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/workflows"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

// TriggerStore reads when triggers have happened in the past, for estimates.
type TriggerStore struct{ db *db.DB }

// NewTriggerStore returns the store of past triggers on the database.
func NewTriggerStore(on *db.DB) TriggerStore { return TriggerStore{on} }

// TriggerTime is a time at which a trigger happened for a contact. Entered is false for the time
// at which the contact left a segment.
type TriggerTime struct {
	ContactID string
	At        time.Time
	Entered   bool
}

// happened has, for each kind of trigger, the FROM and WHERE clauses of the times of a trigger
// for active contacts. id, at and entered are the columns. $1 is the organization, $2 the
// source, and $3 and $4 are the bounds of the time.
var happened = map[workflows.TriggerKind]struct{ id, at, entered, from string }{
	workflows.OnSegment: {"l.contact_id", "l.occurred_at", "l.entered", `membership_log AS l JOIN contacts AS c ON c.org_id = l.org_id AND c.id = l.contact_id
		WHERE l.org_id = $1 AND l.set_kind = 'segment' AND l.set_id = $2 AND l.occurred_at >= $3 AND l.occurred_at < $4 AND c.status = 'active'`},
	workflows.OnActivity: {"a.contact_id", "a.occurred_at", "TRUE", `activities AS a JOIN contacts AS c ON c.org_id = a.org_id AND c.id = a.contact_id
		WHERE a.org_id = $1 AND a.name = $2 AND a.occurred_at >= $3 AND a.occurred_at < $4 AND c.status = 'active'`},
	workflows.OnEvent: {"c.id", "e.occurred_at", "TRUE", `message_events AS e JOIN contacts AS c ON c.org_id = e.org_id AND c.email_key = e.recipient_key
		WHERE e.org_id = $1 AND e.type = $2 AND e.occurred_at >= $3 AND e.occurred_at < $4 AND NOT e.test AND c.status = 'active'`},
}

// registerTimes registers a statement for each kind of trigger.
func registerTimes(name string, text func(id, at, entered, from string) string) map[workflows.TriggerKind]*db.Statement {
	all := map[workflows.TriggerKind]*db.Statement{}
	for _, kind := range []workflows.TriggerKind{workflows.OnSegment, workflows.OnActivity, workflows.OnEvent} {
		of := happened[kind]
		all[kind] = db.Register(name+" of the kind "+string(kind), text(of.id, of.at, of.entered, of.from))
	}
	return all
}

var (
	// triggerTimes samples contacts by the random end of their ids.
	triggerTimes = registerTimes("times of a trigger", func(id, at, entered, from string) string {
		return `SELECT ` + id + ` AS contact_id, ` + at + ` AS at, ` + entered + ` AS entered FROM ` + from + ` AND ` + id + ` IN (
			SELECT f.id FROM (SELECT DISTINCT ` + id + ` AS id FROM ` + from + `) AS f ORDER BY substr(f.id, 25) LIMIT $5)
		ORDER BY 1, 2`
	})
	countTriggered = registerTimes("contacts of a trigger", func(id, _, _, from string) string {
		return `SELECT count(DISTINCT ` + id + `) FROM ` + from
	})
)

// Times returns the times of a trigger since a time and before another, for a sample of up to
// limit active contacts, sorted by contact and time. It fails for date triggers.
func (s TriggerStore) Times(ctx context.Context, orgID string, t workflows.Trigger, since, until time.Time, limit int) ([]TriggerTime, error) {
	type timeRow struct {
		ContactID string  `db:"contact_id"`
		At        db.Time `db:"at"`
		Entered   bool    `db:"entered"`
	}
	statement, source, err := statementOf(triggerTimes, t)
	if err != nil {
		return nil, err
	}
	return db.ListAs(ctx, s.db, func(r timeRow) TriggerTime {
		return TriggerTime{ContactID: r.ContactID, At: r.At.Time(), Entered: r.Entered}
	}, statement, orgID, source, storedMoment(since), db.At(until), limit)
}

// Count returns the number of active contacts for which the trigger has happened since a time and
// before another. It fails for date triggers.
func (s TriggerStore) Count(ctx context.Context, orgID string, t workflows.Trigger, since, until time.Time) (int, error) {
	statement, source, err := statementOf(countTriggered, t)
	if err != nil {
		return 0, err
	}
	counts, err := db.Values[int](ctx, s.db, statement, orgID, source, storedMoment(since), db.At(until))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

func statementOf(all map[workflows.TriggerKind]*db.Statement, t workflows.Trigger) (statement *db.Statement, source string, err error) {
	statement, source = all[t.Kind], t.Source
	if statement == nil {
		return nil, "", fmt.Errorf("storage: a trigger of the kind %s has no times", t.Kind)
	}
	if t.Kind == workflows.OnEvent {
		source = string(eventTypes[t.Source])
	}
	return statement, source, nil
}
