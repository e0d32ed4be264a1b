package webhooks

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// dueEndpoints takes one endpoint of each organization, then a second one of each, and so
	// on. For each enabled endpoint it reads one entry of the index webhook_deliveries_due and
	// a few of webhook_deliveries_sending.
	dueEndpoints = engine.Register("webhook endpoints with due deliveries", `
		SELECT org_id, id FROM (
			SELECT e.org_id, e.id, e.served_at, row_number() OVER (PARTITION BY e.org_id ORDER BY e.served_at, e.id) AS place
			FROM webhook_endpoints AS e
			WHERE e.enabled AND e.deleted_at IS NULL AND e.slow = $1 AND `+engine.NotDeleted("e.org_id")+`
				AND EXISTS (SELECT 1 FROM webhook_deliveries AS d WHERE d.org_id = e.org_id AND d.endpoint_id = e.id AND d.due_at <= $2)
				AND (SELECT count(*) FROM webhook_deliveries AS d
					WHERE d.org_id = e.org_id AND d.endpoint_id = e.id AND d.state = 'sending' AND d.due_at > $3) < $4
		) AS due ORDER BY place, served_at, org_id, id LIMIT $5`)
	// claimEndpoint locks the endpoint, so that claims of its deliveries exclude each other.
	// It skips an endpoint that another process has locked. SQLite has one writer at a time.
	claimEndpoint = engine.Register("claim webhook endpoint", `
		SELECT `+endpointColumns+` FROM webhook_endpoints WHERE org_id = $1 AND id = $2 AND enabled AND deleted_at IS NULL /*pg FOR UPDATE SKIP LOCKED*/`)
	countSending = engine.Register("count webhook deliveries being sent", `
		SELECT count(*) FROM webhook_deliveries WHERE org_id = $1 AND endpoint_id = $2 AND state = 'sending' AND due_at > $3`)
	claimDeliveries = engine.Register("claim webhook deliveries", `
		UPDATE webhook_deliveries SET state = 'sending', attempts = attempts + 1, tries = tries + 1, due_at = $1
		WHERE org_id = $2 AND endpoint_id = $3 AND id IN (
			SELECT id FROM webhook_deliveries WHERE org_id = $2 AND endpoint_id = $3 AND due_at <= $4 ORDER BY due_at, id LIMIT $5)
		RETURNING `+deliveryColumns)
	markServed = engine.Register("mark webhook endpoint served", `
		UPDATE webhook_endpoints SET served_at = $1 WHERE org_id = $2 AND id = $3`)
	settleDelivery = engine.Register("settle webhook delivery", `
		UPDATE webhook_deliveries SET state = $1, due_at = $2, answered_at = $3, status = $4, problem = $5, answer = $6
		WHERE org_id = $7 AND endpoint_id = $8 AND id = $9 AND state = 'sending' AND attempts = $10`)
	giveBackDelivery = engine.Register("give back webhook delivery", `
		UPDATE webhook_deliveries SET state = 'pending', tries = tries - 1, due_at = $1
		WHERE org_id = $2 AND endpoint_id = $3 AND id = $4 AND state = 'sending' AND attempts = $5`)
	// noteSuccess and noteFailure change no row in the usual case, so that the outcomes of an
	// endpoint do not wait for each other.
	noteSuccess = engine.Register("note success of webhook endpoint", `
		UPDATE webhook_endpoints SET failing_since = NULL, slow = $1
		WHERE org_id = $2 AND id = $3 AND (failing_since IS NOT NULL OR slow <> $4)`)
	noteFailure = engine.Register("note failure of webhook endpoint", `
		UPDATE webhook_endpoints SET failing_since = COALESCE(failing_since, CAST($1 AS bigint)), slow = TRUE
		WHERE org_id = $2 AND id = $3 AND (failing_since IS NULL OR NOT slow)`)
	disableFailing = engine.Register("disable failing webhook endpoint", `
		UPDATE webhook_endpoints SET enabled = FALSE, disabled_at = $1
		WHERE org_id = $2 AND id = $3 AND enabled AND deleted_at IS NULL AND failing_since <= $4`)
)

func (s Store) Due(ctx context.Context, slow bool, now time.Time, limit int) ([]webhooks.Target, error) {
	type row struct {
		OrgID string `db:"org_id"`
		ID    string `db:"id"`
	}
	at := engine.At(now)
	return engine.ListAs(ctx, s.db, func(r row) webhooks.Target { return webhooks.Target{OrgID: r.OrgID, EndpointID: r.ID} },
		dueEndpoints, slow, at, at, webhooks.InFlight, limit)
}

func (s Store) Claim(ctx context.Context, t webhooks.Target, now, until time.Time, limit int) (webhooks.Claimed, error) {
	var claimed webhooks.Claimed
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		claimed = webhooks.Claimed{}
		found, err := engine.ListParsed(ctx, s.db, endpointRow.endpoint, claimEndpoint, t.OrgID, t.EndpointID)
		if err != nil || len(found) == 0 {
			return err
		}
		sending, err := engine.Values[int](ctx, s.db, countSending, t.OrgID, t.EndpointID, engine.At(now))
		if err != nil {
			return err
		}
		if limit = min(limit, webhooks.InFlight-sending[0]); limit <= 0 {
			return nil
		}
		claimed.Endpoint = found[0]
		claimed.Deliveries, err = engine.ListAs(ctx, s.db, deliveryRow.delivery, claimDeliveries, engine.At(until), t.OrgID, t.EndpointID, engine.At(now), limit)
		if err != nil || len(claimed.Deliveries) == 0 {
			return err
		}
		_, err = s.db.Exec(ctx, markServed, engine.At(now), t.OrgID, t.EndpointID)
		return err
	})
	return claimed, err
}

func (s Store) Settle(ctx context.Context, orgID string, d webhooks.Delivery) (bool, error) {
	n, err := s.db.Exec(ctx, settleDelivery, string(d.State), engine.OptionalAt(d.DueAt), engine.OptionalAt(d.AnsweredAt), d.Status,
		string(d.Problem), d.Answer, orgID, d.EndpointID, d.ID, d.Attempts)
	return n == 1, err
}

func (s Store) GiveBack(ctx context.Context, orgID string, d webhooks.Delivery, now time.Time) error {
	_, err := s.db.Exec(ctx, giveBackDelivery, engine.At(now), orgID, d.EndpointID, d.ID, d.Attempts)
	return err
}

func (s Store) NoteAttempt(ctx context.Context, t webhooks.Target, failed, slow bool, now time.Time) error {
	var err error
	if failed {
		_, err = s.db.Exec(ctx, noteFailure, engine.At(now), t.OrgID, t.EndpointID)
	} else {
		_, err = s.db.Exec(ctx, noteSuccess, slow, t.OrgID, t.EndpointID, slow)
	}
	return err
}

func (s Store) DisableFailing(ctx context.Context, t webhooks.Target, before, now time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, disableFailing, engine.At(now), t.OrgID, t.EndpointID, engine.At(before))
	return n == 1, err
}
