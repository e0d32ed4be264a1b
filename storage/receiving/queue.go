package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// dueWebhooks takes one domain of each organization, then a second one of each, and so on. For
	// each domain with a webhook it reads one entry of the index receiving_deliveries_due.
	dueWebhooks = engine.Register("receiving domains with due deliveries", `
		SELECT org_id, id FROM (
			SELECT d.org_id, d.id, d.served_at, row_number() OVER (PARTITION BY d.org_id ORDER BY d.served_at, d.id) AS place
			FROM receiving_domains AS d
			WHERE d.webhook_url <> '' AND d.deleted_at IS NULL AND d.slow = $1 AND d.leased_until <= $2
				AND EXISTS (SELECT 1 FROM receiving_deliveries AS w WHERE w.org_id = d.org_id AND w.domain_id = d.id AND w.due_at <= $3)
		) AS due ORDER BY place, served_at, org_id, id LIMIT $4`)
	leaseWebhook = engine.Register("lease webhook of receiving domain", `
		UPDATE receiving_domains SET lease = lease + 1, leased_until = $1, served_at = $2
		WHERE org_id = $3 AND id = $4 AND webhook_url <> '' AND deleted_at IS NULL AND leased_until <= $5
		RETURNING domain, webhook_url, secret, lease`)
	extendLease = engine.Register("extend lease of receiving domain", `
		UPDATE receiving_domains SET leased_until = $1
		WHERE org_id = $2 AND id = $3 AND lease = $4 AND webhook_url = $5 AND secret = $6 AND deleted_at IS NULL`)
	releaseLease = engine.Register("release lease of receiving domain", `
		UPDATE receiving_domains SET leased_until = $1 WHERE org_id = $2 AND id = $3 AND lease = $4`)
	dueItems = engine.Register("due deliveries of receiving domain", `
		SELECT w.id, w.message_id, w.recipients, w.entities, w.attempts, w.tries, m.test
		FROM receiving_deliveries AS w JOIN receiving_messages AS m ON m.org_id = w.org_id AND m.id = w.id
		WHERE w.org_id = $1 AND w.domain_id = $2 AND w.due_at <= $3 ORDER BY w.due_at, w.id LIMIT $4`)
	settleDelivery = engine.Register("settle delivery of received message", `
		UPDATE receiving_deliveries SET attempts = attempts + 1, tries = tries + 1, due_at = $1
		WHERE org_id = $2 AND domain_id = $3 AND id = $4 AND attempts = $5 AND due_at IS NOT NULL`)
	// noteSuccess and noteFailure change no row in the usual case, so that the results of an
	// endpoint do not wait for each other.
	noteSuccess = engine.Register("note success of receiving webhook", `
		UPDATE receiving_domains SET failing_since = NULL, slow = $1 WHERE org_id = $2 AND id = $3 AND (failing_since IS NOT NULL OR slow <> $4)`)
	noteFailure = engine.Register("note failure of receiving webhook", `
		UPDATE receiving_domains SET failing_since = COALESCE(failing_since, CAST($1 AS bigint)), slow = TRUE
		WHERE org_id = $2 AND id = $3 AND (failing_since IS NULL OR NOT slow)`)
)

func (s DeliveryStore) Due(ctx context.Context, slow bool, now time.Time, limit int) ([]receiving.Target, error) {
	return targets(ctx, s.db, dueWebhooks, slow, engine.At(now), engine.At(now), limit)
}

func (s DeliveryStore) Lease(ctx context.Context, t receiving.Target, now, until time.Time) (receiving.Endpoint, bool, error) {
	type row struct {
		Domain string `db:"domain"`
		URL    string `db:"webhook_url"`
		Secret []byte `db:"secret"`
		Lease  int    `db:"lease"`
	}
	found, err := engine.List[row](ctx, s.db, leaseWebhook, engine.At(until), engine.At(now), t.OrgID, t.DomainID, engine.At(now))
	if err != nil || len(found) == 0 {
		return receiving.Endpoint{}, false, err
	}
	r := found[0]
	return receiving.Endpoint{Target: t, Domain: r.Domain, URL: r.URL, Secret: r.Secret, Lease: r.Lease}, true, nil
}

func (s DeliveryStore) Extend(ctx context.Context, e receiving.Endpoint, until time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, extendLease, engine.At(until), e.OrgID, e.DomainID, e.Lease, e.URL, e.Secret)
	return n == 1, err
}

func (s DeliveryStore) Release(ctx context.Context, e receiving.Endpoint, now time.Time) error {
	_, err := s.db.Exec(ctx, releaseLease, engine.At(now), e.OrgID, e.DomainID, e.Lease)
	return err
}

// itemRow is a due delivery.
type itemRow struct {
	ID         string `db:"id"`
	MessageID  string `db:"message_id"`
	Recipients string `db:"recipients"`
	Entities   string `db:"entities"`
	Attempts   int    `db:"attempts"`
	Tries      int    `db:"tries"`
	Test       bool   `db:"test"`
}

func (r itemRow) item() (receiving.Item, error) {
	item := receiving.Item{ID: r.ID, MessageID: r.MessageID, Test: r.Test, Attempts: r.Attempts, Tries: r.Tries}
	var err error
	if item.Recipients, err = engine.DecodeTexts(r.Recipients); err != nil {
		return item, err
	}
	if err := json.Unmarshal([]byte(r.Entities), &item.Entities); err != nil {
		return item, fmt.Errorf("storage: entities of received message: %w", err)
	}
	return item, nil
}

func (s DeliveryStore) Items(ctx context.Context, e receiving.Endpoint, now time.Time, limit int) ([]receiving.Item, error) {
	return engine.ListParsed(ctx, s.db, itemRow.item, dueItems, e.OrgID, e.DomainID, engine.At(now), limit)
}

func (s DeliveryStore) Settle(ctx context.Context, results []receiving.Result) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		for _, r := range results {
			if err := s.settle(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle stores one result.
func (s DeliveryStore) settle(ctx context.Context, r receiving.Result) error {
	n, err := s.db.Exec(ctx, settleDelivery, engine.OptionalAt(r.DueAt), r.OrgID, r.DomainID, r.Item.ID, r.Item.Attempts)
	if err != nil || n == 0 {
		return err
	}
	if err := s.log.setOutcomes(ctx, r.OrgID, stateRows(r.Item.ID, []receiving.State{r.State})); err != nil {
		return err
	}
	if r.Failed {
		_, err = s.db.Exec(ctx, noteFailure, engine.At(r.State.OccurredAt), r.OrgID, r.DomainID)
	} else if r.State.State == receiving.Delivered {
		_, err = s.db.Exec(ctx, noteSuccess, r.Slow, r.OrgID, r.DomainID, r.Slow)
	}
	return err
}
