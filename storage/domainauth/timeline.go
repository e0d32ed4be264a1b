package domainauth

import (
	"context"
	"math"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/storage/engine"
)

const eventColumns = `id, kind, origin, subject, occurred_at, observed_at, sightings, old_record, new_record, title, note`

var (
	newestEvents = engine.Register("newest events of a domain", `
		SELECT `+eventColumns+` FROM domainauth_events
		WHERE org_id = $1 AND domain_id = $2 AND (occurred_at, id) < ($3, $4) AND occurred_at >= $5 AND occurred_at < $6 AND ($7 = '' OR kind = $7)
		ORDER BY occurred_at DESC, id DESC LIMIT $8`)
	countEvents = engine.Register("count events of a domain", `
		SELECT count(*) FROM domainauth_events
		WHERE org_id = $1 AND domain_id = $2 AND occurred_at >= $3 AND occurred_at < $4 AND ($5 = '' OR kind = $5)`)
	eventByID = engine.RegisterPoint("event of a domain by id", `
		SELECT `+eventColumns+` FROM domainauth_events WHERE org_id = $1 AND domain_id = $2 AND id = $3`)
	changesOfDomain = engine.Register("changes of records of a domain", `
		SELECT `+eventColumns+` FROM domainauth_events
		WHERE org_id = $1 AND domain_id = $2 AND kind IN ('policy_change', 'setup_change') ORDER BY occurred_at, id`)
	insertEvent = engine.Register("insert event of a domain", `
		INSERT INTO domainauth_events (org_id, id, domain_id, kind, origin, subject, occurred_at, observed_at, sightings, old_record, new_record, title, note, actor)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`)
	statedPolicies = engine.Register("policies that polls and reports state", `
		SELECT text, first_seen_at AS seen FROM domainauth_records
		WHERE org_id = $1 AND domain_id = $2 AND subject = $3 AND text IS NOT NULL
		UNION ALL
		SELECT policy, MIN(ends_at) FROM domainauth_reports
		WHERE org_id = $1 AND domain_id = $2 AND state = 'counted' AND policy <> '' GROUP BY policy`)
)

// eventRow is a row of domainauth_events.
type eventRow struct {
	ID         string          `db:"id"`
	Kind       timeline.Kind   `db:"kind"`
	Origin     timeline.Origin `db:"origin"`
	Subject    string          `db:"subject"`
	OccurredAt engine.Time     `db:"occurred_at"`
	ObservedAt engine.Time     `db:"observed_at"`
	Sightings  int             `db:"sightings"`
	Old        *string         `db:"old_record"`
	New        *string         `db:"new_record"`
	Title      string          `db:"title"`
	Note       string          `db:"note"`
}

func (r eventRow) event() domainauth.Event {
	e := domainauth.Event{
		ID: r.ID, Kind: r.Kind, Origin: r.Origin, Subject: r.Subject, OccurredAt: r.OccurredAt.Time(), ObservedAt: r.ObservedAt.Time(),
		Sightings: r.Sightings, OldRecord: r.Old, NewRecord: r.New, Title: r.Title,
	}
	if r.Note != "" {
		e.Note = &r.Note
	}
	return e
}

func (r eventRow) plain() timeline.Event {
	return timeline.Event{
		ID: r.ID, Kind: r.Kind, Origin: r.Origin, Subject: r.Subject, OccurredAt: r.OccurredAt.Time(), ObservedAt: r.ObservedAt.Time(),
		Sightings: r.Sightings, Old: r.Old, New: r.New,
	}
}

// eventSpan returns the bounds of the times of a filter.
func eventSpan(f domainauth.EventFilter) (from, to engine.Time) { //nolint:nonamedreturns // says which is which
	from, to = engine.Time(math.MinInt64), engine.Time(math.MaxInt64)
	if f.From != nil {
		from = engine.At(*f.From)
	}
	if f.To != nil {
		to = engine.At(*f.To)
	}
	return from, to
}

// Events implements [domainauth.TimelineStore].
func (s Store) Events(ctx context.Context, orgID, domainID string, f domainauth.EventFilter) ([]domainauth.Event, error) {
	at, id := engine.PageStart(f.After)
	from, to := eventSpan(f)
	return engine.ListAs(ctx, s.db, eventRow.event, newestEvents, orgID, domainID, at, id, from, to, string(f.Kind), f.Limit)
}

// CountEvents implements [domainauth.TimelineStore].
func (s Store) CountEvents(ctx context.Context, orgID, domainID string, f domainauth.EventFilter) (int, error) {
	from, to := eventSpan(f)
	return count(ctx, s.db, countEvents, orgID, domainID, from, to, string(f.Kind))
}

// Event implements [domainauth.TimelineStore].
func (s Store) Event(ctx context.Context, orgID, domainID, id string) (domainauth.Event, error) {
	row, err := engine.One[eventRow](ctx, s.db, "event", eventByID, orgID, domainID, id)
	return row.event(), err
}

// Changes implements [domainauth.TimelineStore].
func (s Store) Changes(ctx context.Context, orgID, domainID string) ([]timeline.Event, error) {
	return engine.ListAs(ctx, s.db, eventRow.plain, changesOfDomain, orgID, domainID)
}

// InsertEvent implements [domainauth.TimelineStore].
func (s Store) InsertEvent(ctx context.Context, orgID, domainID string, e domainauth.Event, actor string) error {
	note := ""
	if e.Note != nil {
		note = *e.Note
	}
	_, err := s.db.Exec(ctx, insertEvent, orgID, e.ID, domainID, string(e.Kind), string(e.Origin), e.Subject, engine.At(e.OccurredAt), engine.At(e.ObservedAt),
		e.Sightings, e.OldRecord, e.NewRecord, e.Title, note, actor)
	return err
}

// statedRow is a policy that a poll or a report states.
type statedRow struct {
	Text string      `db:"text"`
	Seen engine.Time `db:"seen"`
}

// Stated implements [domainauth.TimelineStore].
func (s Store) Stated(ctx context.Context, orgID, domainID, subject string) ([]domainauth.Stated, error) {
	return engine.ListAs(ctx, s.db, func(r statedRow) domainauth.Stated {
		return domainauth.Stated{Text: r.Text, Seen: r.Seen.Time()}
	}, statedPolicies, orgID, domainID, subject)
}
