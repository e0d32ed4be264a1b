package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores undeliverable addresses.
type Store struct{ db *engine.DB }

var _ suppression.Store = Store{}

// New returns the store of undeliverable addresses on the database.
func New(db *engine.DB) Store { return Store{db} }

// undeliverableRow is an undeliverable address: a row of undeliverable, and an element of
// the JSON parameter of saveUndeliverable. Events up to ForgivenAt no longer count.
type undeliverableRow struct {
	Key             string             `db:"email_key" json:"key"`
	ID              string             `db:"id" json:"id"`
	Email           string             `db:"email" json:"email"`
	Status          suppression.Status `db:"status" json:"status"`
	Reason          suppression.Reason `db:"reason" json:"reason"`
	FirstSeenAt     engine.Time        `db:"first_seen_at" json:"first"`
	LastSeenAt      engine.Time        `db:"last_seen_at" json:"last"`
	LastChangedAt   engine.Time        `db:"last_changed_at" json:"changed"`
	EventCount      int                `db:"event_count" json:"count"`
	ExcludedAt      *engine.Time       `db:"excluded_at" json:"excluded"`
	ExclusionReason string             `db:"exclusion_reason" json:"why"`
	ForgivenAt      *engine.Time       `db:"forgiven_at" json:"forgiven"`
}

// adverseRow is a bounce, complaint or reject of an address. The field Bounce is nil for a
// complaint and a reject.
type adverseRow struct {
	Key        string             `db:"recipient_key"`
	Recipient  string             `db:"recipient"`
	OccurredAt engine.Time        `db:"occurred_at"`
	Type       messages.EventType `db:"type"`
	Bounce     *string            `db:"bounce_type"`
	Sub        *string            `db:"bounce_sub_type"`
}

const (
	// undeliverableColumns lists the columns in the order in which saveUndeliverable inserts
	// them.
	undeliverableColumns = `email_key, id, email, status, reason, first_seen_at, last_seen_at, last_changed_at, event_count,
		excluded_at, exclusion_reason, forgiven_at`
	// adverseTypes is an SQL condition on events. It repeats the condition of the partial
	// index on bounces, complaints and rejects, so that the engines use that index.
	adverseTypes = `type IN ('Bounce', 'Complaint', 'Reject')`
)

var (
	// adverseEvents selects the newest $2 adverse events (bounces, complaints, rejects) of
	// each address in $3, or more if several have the time of the oldest. For each address,
	// the inner query finds that time through the index.
	//
	// The subquery newest, which contains the inner query, must be the outer side of the
	// join. Otherwise the engine reads all adverse events of the organization, and
	// PostgreSQL without statistics runs the inner query for each event. SQLite keeps the
	// order of a CROSS JOIN. PostgreSQL keeps the order of a LATERAL join, and does not
	// merge a subquery with LIMIT into the outer query.
	adverseEvents = engine.Register("adverse events", `
		SELECT e.recipient_key, e.recipient, e.occurred_at, e.type, e.bounce_type, e.bounce_sub_type FROM (
			SELECT j.atom AS key, coalesce((SELECT min(recent.occurred_at) FROM (
				SELECT f.occurred_at FROM message_events AS f
				WHERE f.org_id = $1 AND f.recipient_key = j.atom AND f.`+adverseTypes+` AND NOT f.test
				ORDER BY f.occurred_at DESC LIMIT $2) AS recent), 0) AS since
			FROM json_each(CAST($3 AS text)) AS j LIMIT $4
		) AS newest
		CROSS JOIN /*pg LATERAL (SELECT m.* FROM*/ message_events /*pg AS m WHERE m.org_id = $1
			AND m.recipient_key = newest.key AND m.occurred_at >= newest.since AND m.`+adverseTypes+` AND NOT m.test
			LIMIT ALL)*/ AS e
		WHERE e.org_id = $1 AND e.recipient_key = newest.key AND e.occurred_at >= newest.since
			AND e.`+adverseTypes+` AND NOT e.test
		ORDER BY e.recipient_key, e.occurred_at, e.id`)
	// adverseKeys selects addresses with bounces, complaints or rejects after the address
	// $2, in the order of the index on these events.
	adverseKeys = engine.Register("adverse keys", `
		SELECT DISTINCT recipient_key FROM message_events
		WHERE org_id = $1 AND recipient_key > $2 AND `+adverseTypes+`
		ORDER BY recipient_key LIMIT $3`)

	// undeliverableByKey selects undeliverable addresses by primary key. $2 is a JSON array
	// of addresses in the form of core.EmailKey.
	undeliverableByKey = engine.Register("undeliverable by key", `
		SELECT `+undeliverableColumns+` FROM undeliverable
		WHERE org_id = $1 AND email_key IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
	// lastUndeliverable selects the time of the latest change of any undeliverable address,
	// through the index undeliverable_by_change.
	lastUndeliverable = engine.Register("last change of undeliverable", `
		SELECT last_changed_at FROM undeliverable WHERE org_id = $1 ORDER BY last_changed_at DESC LIMIT 1`)
	undeliverableByID = engine.RegisterPoint("undeliverable by id", `
		SELECT `+undeliverableColumns+` FROM undeliverable WHERE org_id = $1 AND id = $2`)
	// saveUndeliverable inserts or updates undeliverable addresses. An address that is
	// stored already keeps its id.
	saveUndeliverable = engine.Register("save undeliverable", `
		INSERT INTO undeliverable (org_id, `+undeliverableColumns+`)
		SELECT $1, v ->> 'key', v ->> 'id', v ->> 'email', v ->> 'status', v ->> 'reason',
			CAST(v ->> 'first' AS bigint), CAST(v ->> 'last' AS bigint), CAST(v ->> 'changed' AS bigint),
			CAST(v ->> 'count' AS integer), CAST(v ->> 'excluded' AS bigint), v ->> 'why',
			CAST(v ->> 'forgiven' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT (org_id, email_key) DO UPDATE SET email = excluded.email, status = excluded.status,
			reason = excluded.reason, first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at,
			last_changed_at = excluded.last_changed_at, event_count = excluded.event_count,
			excluded_at = excluded.excluded_at, exclusion_reason = excluded.exclusion_reason, forgiven_at = excluded.forgiven_at`)
)

// Adverse returns bounces, complaints and rejects, keyed by address. For each address it
// returns the newest ones, sorted by time, oldest first. Their number is at most limit for
// each address, or more if several events have the same time as the oldest one.
func (s Store) Adverse(ctx context.Context, orgID string, keys []string, limit int) (map[string][]suppression.Adverse, error) {
	parameter, err := engine.JSONParameter(keys)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[adverseRow](ctx, s.db, adverseEvents, orgID, limit, parameter, len(keys))
	if err != nil {
		return nil, err
	}
	histories := make(map[string][]suppression.Adverse, len(keys))
	for _, r := range rows {
		a := suppression.Adverse{Recipient: r.Recipient, OccurredAt: r.OccurredAt.Time(), Type: r.Type}
		if r.Bounce != nil {
			a.Bounced.Type = *r.Bounce
		}
		if r.Sub != nil {
			a.Bounced.SubType = *r.Sub
		}
		histories[r.Key] = append(histories[r.Key], a)
	}
	return histories, nil
}

func (s Store) AdverseKeys(ctx context.Context, orgID, after string, limit int) ([]string, error) {
	return engine.Values[string](ctx, s.db, adverseKeys, orgID, after, limit)
}

func (s Store) Entries(ctx context.Context, orgID string, keys []string) (map[string]suppression.Entry, error) {
	parameter, err := engine.JSONParameter(keys)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[undeliverableRow](ctx, s.db, undeliverableByKey, orgID, parameter)
	entries := make(map[string]suppression.Entry, len(rows))
	for _, r := range rows {
		entries[r.Key] = r.entry()
	}
	return entries, err
}

func (s Store) LastChange(ctx context.Context, orgID string) (time.Time, error) {
	times, err := engine.Values[engine.Time](ctx, s.db, lastUndeliverable, orgID)
	if err != nil || len(times) == 0 {
		return time.Time{}, err
	}
	return times[0].Time(), nil
}

func (s Store) EntryByID(ctx context.Context, orgID, id string) (suppression.Entry, error) {
	row, err := engine.One[undeliverableRow](ctx, s.db, "undeliverable address", undeliverableByID, orgID, id)
	if err != nil {
		return suppression.Entry{}, err
	}
	return row.entry(), nil
}

func (s Store) SaveEntries(ctx context.Context, orgID string, entries []suppression.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	rows := make([]undeliverableRow, len(entries))
	for i, e := range entries {
		rows[i] = undeliverableRow{
			Key: e.Key, ID: e.ID(), Email: e.Email, Status: e.Status, Reason: e.Reason,
			FirstSeenAt: engine.At(e.FirstSeenAt), LastSeenAt: engine.At(e.LastSeenAt), LastChangedAt: engine.At(e.LastChangedAt), EventCount: e.EventCount,
			ExcludedAt: engine.OptionalAt(e.ExcludedAt), ExclusionReason: e.ExclusionReason, ForgivenAt: engine.OptionalAt(e.ForgivenAt),
		}
	}
	return engine.ExecRows(ctx, s.db, saveUndeliverable, orgID, rows)
}

// entry converts the row to a suppression.Entry. An Entry has no field for the stored id,
// because its method ID computes the id from the key.
func (r undeliverableRow) entry() suppression.Entry {
	return suppression.Entry{
		Key: r.Key, Email: r.Email, Status: r.Status, Reason: r.Reason,
		FirstSeenAt: r.FirstSeenAt.Time(), LastSeenAt: r.LastSeenAt.Time(), LastChangedAt: r.LastChangedAt.Time(), EventCount: r.EventCount,
		ExcludedAt: engine.OptionalTime(r.ExcludedAt), ExclusionReason: r.ExclusionReason, ForgivenAt: engine.OptionalTime(r.ForgivenAt),
	}
}
