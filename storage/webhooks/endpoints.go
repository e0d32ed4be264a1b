package webhooks

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores endpoints and deliveries.
type Store struct{ db *engine.DB }

var (
	_ webhooks.Store = Store{}
	_ webhooks.Queue = Store{}
)

// New returns the store of webhooks on the database.
func New(db *engine.DB) Store { return Store{db} }

const endpointColumns = `id, url, description, types, enabled, secret, previous_secret, previous_until, failing_since, disabled_at, created_at`

var (
	subscriptionsOfOrg = engine.RegisterPoint("webhook subscriptions", `
		SELECT id, types FROM webhook_endpoints WHERE org_id = $1 AND enabled AND deleted_at IS NULL ORDER BY id`)
	endpointsOfOrg = engine.Register("webhook endpoints", `
		SELECT `+endpointColumns+` FROM webhook_endpoints WHERE org_id = $1 AND deleted_at IS NULL ORDER BY created_at, id`)
	endpointByID = engine.RegisterPoint("webhook endpoint by id", `
		SELECT `+endpointColumns+` FROM webhook_endpoints WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL`)
	// lockEndpoint locks the endpoint on PostgreSQL. SQLite needs no lock, because it has one
	// writer at a time.
	lockEndpoint = engine.Register("lock webhook endpoint", `
		SELECT `+endpointColumns+` FROM webhook_endpoints WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL /*pg FOR UPDATE*/`)
	insertEndpoint = engine.Register("insert webhook endpoint", `
		INSERT INTO webhook_endpoints (org_id, id, url, description, types, enabled, secret, slow, served_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, FALSE, 0, $8) ON CONFLICT DO NOTHING`)
	updateEndpoint = engine.Register("update webhook endpoint", `
		UPDATE webhook_endpoints SET url = $1, description = $2, types = $3, enabled = $4, secret = $5, previous_secret = $6,
			previous_until = $7, failing_since = $8, disabled_at = $9
		WHERE org_id = $10 AND id = $11 AND deleted_at IS NULL`)
	deleteEndpoint = engine.Register("delete webhook endpoint", `
		UPDATE webhook_endpoints SET enabled = FALSE, secret = NULL, previous_secret = NULL, url = '', deleted_at = $1
		WHERE org_id = $2 AND id = $3 AND deleted_at IS NULL`)
)

// endpointRow is a row of webhook_endpoints.
type endpointRow struct {
	ID            string       `db:"id"`
	URL           string       `db:"url"`
	Description   string       `db:"description"`
	Types         string       `db:"types"`
	Enabled       bool         `db:"enabled"`
	Secret        []byte       `db:"secret"`
	Previous      []byte       `db:"previous_secret"`
	PreviousUntil *engine.Time `db:"previous_until"`
	FailingSince  *engine.Time `db:"failing_since"`
	DisabledAt    *engine.Time `db:"disabled_at"`
	CreatedAt     engine.Time  `db:"created_at"`
}

func (r endpointRow) endpoint() (webhooks.Endpoint, error) {
	types, err := typesOf(r.Types)
	return webhooks.Endpoint{
		ID: r.ID, URL: r.URL, Description: r.Description, Types: types, Enabled: r.Enabled, Secret: r.Secret, Previous: r.Previous,
		PreviousUntil: engine.OptionalTime(r.PreviousUntil), FailingSince: engine.OptionalTime(r.FailingSince),
		DisabledAt: engine.OptionalTime(r.DisabledAt), CreatedAt: r.CreatedAt.Time(),
	}, err
}

// typesOf returns the types of events in a stored list.
func typesOf(stored string) ([]webhooks.EventType, error) {
	types, err := engine.DecodeList[webhooks.EventType](stored)
	if err != nil {
		return nil, fmt.Errorf("storage: types of events: %w", err)
	}
	return types, nil
}

func (s Store) Subscriptions(ctx context.Context, orgID string) ([]webhooks.Subscription, error) {
	type row struct {
		ID    string `db:"id"`
		Types string `db:"types"`
	}
	return engine.ListParsed(ctx, s.db, func(r row) (webhooks.Subscription, error) {
		types, err := typesOf(r.Types)
		return webhooks.Subscription{EndpointID: r.ID, Types: types}, err
	}, subscriptionsOfOrg, orgID)
}

func (s Store) Endpoints(ctx context.Context, orgID string) ([]webhooks.Endpoint, error) {
	return engine.ListParsed(ctx, s.db, endpointRow.endpoint, endpointsOfOrg, orgID)
}

func (s Store) Endpoint(ctx context.Context, orgID, id string) (webhooks.Endpoint, error) {
	row, err := engine.One[endpointRow](ctx, s.db, "webhook endpoint", s.db.LockedInside(ctx, endpointByID, lockEndpoint), orgID, id)
	if err != nil {
		return webhooks.Endpoint{}, err
	}
	return row.endpoint()
}

func (s Store) InsertEndpoint(ctx context.Context, orgID string, e webhooks.Endpoint) error {
	types, err := engine.JSONParameter(e.Types)
	if err != nil {
		return err
	}
	taken := core.Conflict("A webhook endpoint with this id exists.", "Open the list of endpoints to see it.")
	return engine.Announced(ctx, s.db, orgID, s.db.Insert(ctx, taken, insertEndpoint, orgID, e.ID, e.URL, e.Description, types, e.Enabled, e.Secret, engine.At(e.CreatedAt)))
}

func (s Store) UpdateEndpoint(ctx context.Context, orgID string, e webhooks.Endpoint) error {
	types, err := engine.JSONParameter(e.Types)
	if err != nil {
		return err
	}
	return engine.Announced(ctx, s.db, orgID, s.db.Change(ctx, "webhook endpoint", updateEndpoint, e.URL, e.Description, types, e.Enabled, e.Secret, e.Previous,
		engine.OptionalAt(e.PreviousUntil), engine.OptionalAt(e.FailingSince), engine.OptionalAt(e.DisabledAt), orgID, e.ID))
}

func (s Store) DeleteEndpoint(ctx context.Context, orgID, id string, now time.Time) error {
	return engine.Announced(ctx, s.db, orgID, s.db.Change(ctx, "webhook endpoint", deleteEndpoint, engine.At(now), orgID, id))
}
