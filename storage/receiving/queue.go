package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// dueWebhooks takes one domain of each organization, then a second one of each, and so on. For
	// each domain with a webhook it reads one entry of the index receiving_deliveries_next.
	dueWebhooks = engine.Register("receiving domains with due deliveries", `
		SELECT org_id, id FROM (
			SELECT d.org_id, d.id, d.served_at, row_number() OVER (PARTITION BY d.org_id ORDER BY d.served_at, d.id) AS place
			FROM receiving_domains AS d
			WHERE d.webhook_url <> '' AND d.deleted_at IS NULL AND d.slow = $1 AND d.leased_until <= $2 AND `+engine.NotDeleted("d.org_id")+`
				AND EXISTS (SELECT 1 FROM receiving_deliveries AS w WHERE w.org_id = d.org_id AND w.domain_id = d.id AND w.due_at <= $3)
		) AS due ORDER BY place, served_at, org_id, id LIMIT $4`)
	leaseWebhook = engine.Register("lease webhook of receiving domain", `
		UPDATE receiving_domains SET lease = lease + 1, leased_until = $1, served_at = $2
		WHERE org_id = $3 AND id = $4 AND webhook_url <> '' AND deleted_at IS NULL AND leased_until <= $5
		RETURNING domain, webhook_url, secret, lease`)
	releaseLease = engine.Register("release lease of receiving domain", `
		UPDATE receiving_domains SET leased_until = $1 WHERE org_id = $2 AND id = $3 AND lease = $4`)
	// dueItems also reads the domain, so that a process that has lost its lease, or has an old
	// secret, sends nothing more. It takes the first entries of the index receiving_deliveries_next,
	// however many deliveries are due; a join would let PostgreSQL sort all of them.
	dueItems = engine.Register("due deliveries of receiving domain", `
		SELECT w.id, w.message_id, w.recipients, w.entities, w.due_at, w.attempts, w.tries,
			COALESCE((SELECT m.test FROM receiving_messages AS m WHERE m.org_id = w.org_id AND m.id = w.id), FALSE) AS test
		FROM receiving_deliveries AS w
		WHERE w.org_id = $1 AND w.domain_id = $2 AND w.due_at <= $3 AND (w.due_at, w.id) > ($4, $5)
			AND EXISTS (SELECT 1 FROM receiving_domains AS d
				WHERE d.org_id = $1 AND d.id = $2 AND d.lease = $6 AND d.webhook_url = $7 AND d.secret = $8 AND d.deleted_at IS NULL)
		ORDER BY w.due_at, w.id LIMIT $9`)
	settleDeliveries = engine.Register("settle deliveries of received messages", `
		UPDATE receiving_deliveries SET attempts = attempts + 1, tries = tries + 1, due_at = CAST(v ->> 'due' AS bigint)
		FROM `+engine.ParameterRows(`$1`)+`
		WHERE org_id = $2 AND domain_id = v ->> 'domain' AND id = v ->> 'delivery' AND attempts = CAST(v ->> 'attempts' AS bigint) AND due_at IS NOT NULL
		RETURNING id, attempts`)
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

func (s DeliveryStore) Release(ctx context.Context, e receiving.Endpoint, now time.Time) error {
	_, err := s.db.Exec(ctx, releaseLease, engine.At(now), e.OrgID, e.DomainID, e.Lease)
	return err
}

// itemRow is a due delivery.
type itemRow struct {
	ID         string      `db:"id"`
	MessageID  string      `db:"message_id"`
	Recipients string      `db:"recipients"`
	Entities   string      `db:"entities"`
	DueAt      engine.Time `db:"due_at"`
	Attempts   int         `db:"attempts"`
	Tries      int         `db:"tries"`
	Test       bool        `db:"test"`
}

func (r itemRow) item() (receiving.Item, error) {
	item := receiving.Item{ID: r.ID, MessageID: r.MessageID, Test: r.Test, DueAt: r.DueAt.Time(), Attempts: r.Attempts, Tries: r.Tries}
	var err error
	if item.Recipients, err = engine.DecodeTexts(r.Recipients); err != nil {
		return item, err
	}
	if err := json.Unmarshal([]byte(r.Entities), &item.Entities); err != nil {
		return item, fmt.Errorf("storage: entities of received message: %w", err)
	}
	return item, nil
}

func (s DeliveryStore) Items(ctx context.Context, e receiving.Endpoint, now time.Time, after *receiving.Item, limit int) ([]receiving.Item, error) {
	at, id := engine.Time(math.MinInt64), ""
	if after != nil {
		at, id = engine.At(after.DueAt), after.ID
	}
	return engine.ListParsed(ctx, s.db, itemRow.item, dueItems, e.OrgID, e.DomainID, engine.At(now), at, id, e.Lease, e.URL, e.Secret, limit)
}

func (s DeliveryStore) Settle(ctx context.Context, results []receiving.Result) error {
	byOrg := map[string][]receiving.Result{}
	for _, r := range results {
		byOrg[r.OrgID] = append(byOrg[r.OrgID], r)
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		for _, orgID := range slices.Sorted(maps.Keys(byOrg)) {
			if err := s.settle(ctx, orgID, byOrg[orgID]); err != nil {
				return err
			}
		}
		return nil
	})
}

// settledRow is a result in a parameter with many rows.
type settledRow struct {
	Domain   string       `json:"domain"`
	Delivery string       `json:"delivery"`
	Attempts int          `json:"attempts"`
	Due      *engine.Time `json:"due"`
}

// attempt is an attempt of a delivery, by the number of those before it.
type attempt struct {
	ID       string `db:"id"`
	Attempts int    `db:"attempts"`
}

// settle stores results of one organization.
func (s DeliveryStore) settle(ctx context.Context, orgID string, results []receiving.Result) error {
	rows := make([]settledRow, len(results))
	for i, r := range results {
		rows[i] = settledRow{r.DomainID, r.Item.ID, r.Item.Attempts, engine.OptionalAt(r.DueAt)}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	settled, err := engine.List[attempt](ctx, s.db, settleDeliveries, parameter, orgID)
	if err != nil || len(settled) == 0 {
		return err
	}
	results = slices.DeleteFunc(slices.Clone(results), func(r receiving.Result) bool {
		return !slices.Contains(settled, attempt{r.Item.ID, r.Item.Attempts + 1})
	})
	var states []stateRow
	for _, r := range results {
		states = append(states, stateRows(r.Item.ID, []receiving.State{r.State})...)
	}
	if err := s.log.setOutcomes(ctx, orgID, states); err != nil {
		return err
	}
	return s.noteResults(ctx, orgID, results)
}

// noteResults notes at each domain the first failure after the last success, and whether the last
// attempt was slow.
func (s DeliveryStore) noteResults(ctx context.Context, orgID string, results []receiving.Result) error {
	slices.SortStableFunc(results, func(a, b receiving.Result) int { return a.State.OccurredAt.Compare(b.State.OccurredAt) })
	type course struct{ success, failure *receiving.Result }
	courses := map[string]course{}
	for i := range results {
		r := &results[i]
		switch c := courses[r.DomainID]; {
		case r.State.State == receiving.Delivered:
			courses[r.DomainID] = course{success: r}
		case r.Failed && c.failure == nil:
			courses[r.DomainID] = course{c.success, r}
		}
	}
	for _, domainID := range slices.Sorted(maps.Keys(courses)) {
		c := courses[domainID]
		if c.success != nil {
			if _, err := s.db.Exec(ctx, noteSuccess, c.success.Slow, orgID, domainID, c.success.Slow); err != nil {
				return err
			}
		}
		if c.failure != nil {
			if _, err := s.db.Exec(ctx, noteFailure, engine.At(c.failure.State.OccurredAt), orgID, domainID); err != nil {
				return err
			}
		}
	}
	return nil
}
