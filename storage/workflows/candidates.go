package workflows

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/workflows"
	db "github.com/mailhelm/mailhelm/storage/engine"
)

var (
	segmentCandidates = db.Register("candidates of a segment", `
		SELECT m.contact_id FROM segment_members AS m
		WHERE m.org_id = $1 AND m.segment_id = $2 AND m.contact_id > $3 AND m.entered_at >= $4 AND m.entered_at <= $5
		ORDER BY m.contact_id LIMIT $6`)
	activityCandidates = db.Register("candidates of an activity", `
		SELECT DISTINCT a.contact_id FROM activities AS a
		WHERE a.org_id = $1 AND a.name = $2 AND a.contact_id > $3 AND a.occurred_at >= $4 AND a.occurred_at <= $5
		ORDER BY a.contact_id LIMIT $6`)
	eventCandidates = db.Register("candidates of an event", `
		SELECT DISTINCT c.id FROM message_events AS e JOIN contacts AS c ON c.org_id = e.org_id AND c.email_key = e.recipient_key
		WHERE e.org_id = $1 AND e.type = $2 AND c.id > $3 AND e.occurred_at >= $4 AND e.occurred_at <= $5 AND NOT e.test
		ORDER BY c.id LIMIT $6`)
)

func (s EntryStore) Candidates(ctx context.Context, orgID string, t workflows.Trigger, since, until time.Time, after string, limit int) ([]string, error) {
	statement, source := segmentCandidates, t.Source
	switch t.Kind {
	case workflows.OnSegment:
	case workflows.OnActivity:
		statement = activityCandidates
	case workflows.OnEvent:
		statement, source = eventCandidates, string(eventTypes[t.Source])
	default:
		return nil, fmt.Errorf("storage: a trigger of the kind %s has no candidates", t.Kind)
	}
	return db.Values[string](ctx, s.db, statement, orgID, source, after, storedMoment(since), db.At(until), limit)
}

// eventTypes has the stored types of events by their names in triggers.
var eventTypes = map[string]messages.EventType{
	"send": messages.Send, "delivery": messages.Delivery, "open": messages.Open, "click": messages.Click, "bounce": messages.Bounce,
	"complaint": messages.Complaint, "reject": messages.Reject, "delivery_delay": messages.DeliveryDelay,
}
