package webhooks

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage/engine"
)

const (
	// logColumns are the columns of a delivery without its body.
	logColumns      = `endpoint_id, id, event_type, message_id, recipient, test, state, attempts, tries, created_at, due_at, answered_at, status, problem, answer`
	deliveryColumns = logColumns + `, body`
)

var (
	addDeliveries = engine.Register("add webhook deliveries", `
		INSERT INTO webhook_deliveries (org_id, endpoint_id, id, event_type, message_id, recipient, test, body, state, attempts, tries, created_at, due_at, status, problem, answer)
		SELECT $1, v ->> 'endpoint', v ->> 'id', v ->> 'type', v ->> 'message', v ->> 'recipient', CAST(v ->> 'test' AS boolean), v ->> 'body', 'pending', 0, 0,
			CAST(v ->> 'at' AS bigint), CAST(v ->> 'at' AS bigint), 0, '', ''
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT DO NOTHING`)
	newestDeliveries = engine.Register("newest webhook deliveries", `
		SELECT `+logColumns+` FROM webhook_deliveries
		WHERE org_id = $1 AND endpoint_id = $2 AND (created_at, id) < ($3, $4)
		ORDER BY created_at DESC, id DESC LIMIT $5`)
	newestFailed = engine.Register("newest failed webhook deliveries", `
		SELECT `+logColumns+` FROM webhook_deliveries
		WHERE org_id = $1 AND endpoint_id = $2 AND state = 'failed' AND (created_at, id) < ($3, $4)
		ORDER BY created_at DESC, id DESC LIMIT $5`)
	deliveryByID = engine.RegisterPoint("webhook delivery by id", `
		SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE org_id = $1 AND endpoint_id = $2 AND id = $3`)
	requeueDelivery = engine.Register("requeue webhook delivery", `
		UPDATE webhook_deliveries SET state = 'pending', tries = 0, due_at = $1
		WHERE org_id = $2 AND endpoint_id = $3 AND id = $4 AND (state <> 'sending' OR due_at <= $5)`)
	purgeableEndpoints = engine.Register("webhook endpoints with deliveries to purge", `
		SELECT id, deleted_at IS NOT NULL AS deleted FROM webhook_endpoints WHERE org_id = $1 ORDER BY id`)
	purgeDeliveries = engine.Register("purge webhook deliveries", `
		DELETE FROM webhook_deliveries WHERE org_id = $1 AND endpoint_id = $2 AND id IN (
			SELECT id FROM webhook_deliveries WHERE org_id = $1 AND endpoint_id = $2 AND created_at < $3 ORDER BY created_at, id LIMIT $4)`)
	purgeEndpoints = engine.Register("purge deleted webhook endpoints", `
		DELETE FROM webhook_endpoints WHERE org_id = $1 AND deleted_at < $2 AND NOT EXISTS (
			SELECT 1 FROM webhook_deliveries AS d WHERE d.org_id = webhook_endpoints.org_id AND d.endpoint_id = webhook_endpoints.id)`)
	purgeSecrets = engine.Register("purge previous webhook secrets", `
		UPDATE webhook_endpoints SET previous_secret = NULL, previous_until = NULL WHERE org_id = $1 AND previous_until <= $2`)
)

// deliveryRow is a row of webhook_deliveries. Body is "" in lists.
type deliveryRow struct {
	EndpointID string                `db:"endpoint_id"`
	ID         string                `db:"id"`
	Type       webhooks.EventType    `db:"event_type"`
	MessageID  string                `db:"message_id"`
	Recipient  string                `db:"recipient"`
	Test       bool                  `db:"test"`
	Body       string                `db:"body"`
	State      webhooks.State        `db:"state"`
	Attempts   int                   `db:"attempts"`
	Tries      int                   `db:"tries"`
	CreatedAt  engine.Time           `db:"created_at"`
	DueAt      *engine.Time          `db:"due_at"`
	AnsweredAt *engine.Time          `db:"answered_at"`
	Status     int                   `db:"status"`
	Problem    standardhooks.Problem `db:"problem"`
	Answer     string                `db:"answer"`
}

func (r deliveryRow) delivery() webhooks.Delivery {
	return webhooks.Delivery{
		ID: r.ID, EndpointID: r.EndpointID, Type: r.Type, MessageID: r.MessageID, Recipient: r.Recipient, Test: r.Test, Body: r.Body,
		State: r.State, Attempts: r.Attempts, Tries: r.Tries, CreatedAt: r.CreatedAt.Time(), DueAt: engine.OptionalTime(r.DueAt),
		AnsweredAt: engine.OptionalTime(r.AnsweredAt), Status: r.Status, Problem: r.Problem, Answer: r.Answer,
	}
}

func (s Store) AddDeliveries(ctx context.Context, orgID string, added []webhooks.Delivery) error {
	type row struct {
		Endpoint  string             `json:"endpoint"`
		ID        string             `json:"id"`
		Type      webhooks.EventType `json:"type"`
		Message   string             `json:"message"`
		Recipient string             `json:"recipient"`
		Test      int                `json:"test"` // as text, both databases read 0 and 1 as booleans
		Body      string             `json:"body"`
		At        engine.Time        `json:"at"`
	}
	rows := make([]row, len(added))
	for i, d := range added {
		rows[i] = row{d.EndpointID, d.ID, d.Type, d.MessageID, d.Recipient, 0, d.Body, engine.At(d.CreatedAt)}
		if d.Test {
			rows[i].Test = 1
		}
	}
	return engine.ExecRows(ctx, s.db, addDeliveries, orgID, rows)
}

func (s Store) Deliveries(ctx context.Context, orgID, endpointID string, f webhooks.Filter) ([]webhooks.Delivery, error) {
	statement := newestDeliveries
	if f.OnlyFailed {
		statement = newestFailed
	}
	at, id := engine.PageStart(nil)
	if f.Before != nil {
		at, id = engine.At(f.Before.CreatedAt), f.Before.ID
	}
	return engine.ListAs(ctx, s.db, deliveryRow.delivery, statement, orgID, endpointID, at, id, f.Limit)
}

func (s Store) Delivery(ctx context.Context, orgID, endpointID, id string) (webhooks.Delivery, error) {
	row, err := engine.One[deliveryRow](ctx, s.db, "webhook delivery", deliveryByID, orgID, endpointID, id)
	return row.delivery(), err
}

func (s Store) Requeue(ctx context.Context, orgID, endpointID, id string, now time.Time) error {
	_, err := s.db.Exec(ctx, requeueDelivery, engine.At(now), orgID, endpointID, id, engine.At(now))
	return err
}

// deletedFor is how long the row of a deleted endpoint stays. For five seconds other
// processes may still add deliveries to it, which the next purge must find.
const deletedFor = time.Hour

func (s Store) PurgeDeliveries(ctx context.Context, orgID string, before, now time.Time, limit int) (int, error) {
	type row struct {
		ID      string `db:"id"`
		Deleted bool   `db:"deleted"`
	}
	endpoints, err := engine.List[row](ctx, s.db, purgeableEndpoints, orgID)
	if err != nil {
		return 0, err
	}
	purged := 0
	for _, e := range endpoints {
		until := engine.At(before)
		if e.Deleted {
			until, _ = engine.PageStart(nil) // after every time
		}
		n, err := s.db.Exec(ctx, purgeDeliveries, orgID, e.ID, until, limit-purged)
		if err != nil {
			return purged, err
		}
		if purged += n; purged >= limit {
			return purged, nil
		}
	}
	if _, err := s.db.Exec(ctx, purgeSecrets, orgID, engine.At(now)); err != nil {
		return purged, err
	}
	_, err = s.db.Exec(ctx, purgeEndpoints, orgID, engine.At(now.Add(-deletedFor)))
	return purged, err
}
