package domainauth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Measuring stores polls of DNS, and findings and events that are computed.
type Measuring struct{ db *engine.DB }

var (
	_ measuring.PollStore    = Measuring{}
	_ measuring.RefreshStore = Measuring{}
	_ measuring.PurgeStore   = Measuring{}
)

// NewMeasuring returns the store of package measuring on the database.
func NewMeasuring(db *engine.DB) Measuring { return Measuring{db} }

const polledColumns = `org_id, id, domain, snapshot, measure_at, created_at`

var (
	domainsToPoll = engine.Register("domains to poll", `
		SELECT `+polledColumns+` FROM domainauth_domains WHERE measure_at <= $1 AND `+engine.NotDeleted("org_id")+` ORDER BY measure_at, id LIMIT $2`)
	domainToPoll = engine.RegisterPoint("domain to poll", `
		SELECT `+polledColumns+` FROM domainauth_domains WHERE org_id = $1 AND id = $2`)
	claimPoll = engine.Register("claim poll of domain", `
		UPDATE domainauth_domains SET measure_at = $1 WHERE org_id = $2 AND id = $3 AND measure_at = $4`)
	// lockPolled locks the domain on PostgreSQL. SQLite has one writer at a time.
	lockPolled = engine.Register("lock polled domain", `
		SELECT `+polledColumns+` FROM domainauth_domains WHERE org_id = $1 AND id = $2 /*pg FOR UPDATE*/`)
	savePoll = engine.Register("save poll of domain", `
		UPDATE domainauth_domains SET snapshot = $1, measured_at = COALESCE($2, measured_at),
			measure_at = CASE WHEN measure_at = $3 THEN $4 ELSE measure_at END, refresh_at = COALESCE($5, refresh_at)
		WHERE org_id = $6 AND id = $7`)
	latestRun = engine.RegisterPoint("latest run of record", `
		SELECT subject, kind, text, first_seen_at, last_seen_at FROM domainauth_records
		WHERE org_id = $1 AND domain_id = $2 AND subject = $3 ORDER BY first_seen_at DESC LIMIT 1`)
	extendRun = engine.Register("extend run of record", `
		UPDATE domainauth_records SET last_seen_at = $1 WHERE org_id = $2 AND domain_id = $3 AND subject = $4 AND first_seen_at = $5`)
	insertRun = engine.Register("insert run of record", `
		INSERT INTO domainauth_records (org_id, domain_id, subject, first_seen_at, last_seen_at, kind, text)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`)
	requestPoll = engine.Register("request poll of domain", `
		UPDATE domainauth_domains SET requested_at = $1, measure_at = $2, refresh_at = $3
		WHERE org_id = $4 AND id = $5 AND (requested_at IS NULL OR requested_at <= $6)`)
	requestedAt = engine.Register("last request of domain", `
		SELECT requested_at FROM domainauth_domains WHERE org_id = $1 AND id = $2`)
)

// polledRow is a row of domainauth_domains.
type polledRow struct {
	OrgID     string      `db:"org_id"`
	ID        string      `db:"id"`
	Domain    string      `db:"domain"`
	Snapshot  string      `db:"snapshot"`
	MeasureAt engine.Time `db:"measure_at"`
	CreatedAt engine.Time `db:"created_at"`
}

func (r polledRow) domain() (measuring.Domain, error) {
	d := measuring.Domain{OrgID: r.OrgID, ID: r.ID, Name: r.Domain, MeasureAt: r.MeasureAt.Time(), CreatedAt: r.CreatedAt.Time()}
	if r.Snapshot == "" {
		return d, nil
	}
	if err := json.Unmarshal([]byte(r.Snapshot), &d.Snapshot); err != nil {
		return d, fmt.Errorf("storage: snapshot of domain: %w", err)
	}
	return d, nil
}

// DomainsToPoll implements [measuring.PollStore].
func (s Measuring) DomainsToPoll(ctx context.Context, now time.Time, limit int) ([]measuring.Domain, error) {
	return engine.ListParsed(ctx, s.db, polledRow.domain, domainsToPoll, engine.At(now), limit)
}

// DomainToPoll implements [measuring.PollStore].
func (s Measuring) DomainToPoll(ctx context.Context, orgID, id string) (measuring.Domain, error) {
	row, err := engine.One[polledRow](ctx, s.db, "domain", domainToPoll, orgID, id)
	if err != nil {
		return measuring.Domain{}, err
	}
	return row.domain()
}

// ClaimPoll implements [measuring.PollStore].
func (s Measuring) ClaimPoll(ctx context.Context, d measuring.Domain, until time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, claimPoll, engine.At(until), d.OrgID, d.ID, engine.At(d.MeasureAt))
	return n > 0, err
}

// SavePoll implements [measuring.PollStore].
func (s Measuring) SavePoll(ctx context.Context, orgID, domainID string, p measuring.Poll) (bool, error) {
	snapshot, err := json.Marshal(p.Snapshot)
	if err != nil {
		return false, fmt.Errorf("storage: snapshot of domain: %w", err)
	}
	var refreshAt *engine.Time
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		refreshAt = nil
		row, err := engine.One[polledRow](ctx, s.db, "domain", lockPolled, orgID, domainID)
		if core.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if stored, err := row.domain(); err != nil || !stored.Snapshot.LookedAt.Before(p.Snapshot.LookedAt) {
			return err
		}
		for _, r := range p.Snapshot.Records {
			changed, err := s.saveRecord(ctx, orgID, domainID, r, p.Snapshot.LookedAt)
			if err != nil {
				return err
			}
			if changed {
				refreshAt = engine.OptionalAt(&p.Snapshot.LookedAt)
			}
		}
		var measuredAt *engine.Time
		if !p.Snapshot.At.IsZero() {
			measuredAt = engine.OptionalAt(&p.Snapshot.At)
		}
		_, err = s.db.Exec(ctx, savePoll, string(snapshot), measuredAt, engine.At(p.Lease), engine.At(p.Next), refreshAt, orgID, domainID)
		return err
	})
	return refreshAt != nil, err
}

// saveRecord stores the text of a record if it is fresh, and reports whether it is another one
// than that of the last poll.
func (s Measuring) saveRecord(ctx context.Context, orgID, domainID string, r lookup.Record, at time.Time) (bool, error) {
	if !r.Fresh {
		return false, nil
	}
	last, err := engine.One[runRow](ctx, s.db, "record", latestRun, orgID, domainID, r.Name)
	switch {
	case err != nil && !core.IsNotFound(err):
		return false, err
	case err == nil && sameText(last.Text, r.Text):
		_, err := s.db.Exec(ctx, extendRun, engine.At(at), orgID, domainID, r.Name, last.First)
		return false, err
	}
	_, err = s.db.Exec(ctx, insertRun, orgID, domainID, r.Name, engine.At(at), engine.At(at), string(r.Kind), r.Text)
	return err == nil, err
}

func sameText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// Request implements [measuring.PollStore].
func (s Measuring) Request(ctx context.Context, orgID, domainID string, now, after time.Time) (bool, time.Time, error) {
	at := engine.At(now)
	n, err := s.db.Exec(ctx, requestPoll, at, at, at, orgID, domainID, engine.At(after))
	if err != nil || n > 0 {
		return n > 0, now, err
	}
	last, err := engine.Values[*engine.Time](ctx, s.db, requestedAt, orgID, domainID)
	switch {
	case err != nil:
		return false, time.Time{}, err
	case len(last) == 0 || last[0] == nil:
		return false, time.Time{}, core.NotFound("domain")
	}
	return false, last[0].Time(), nil
}

// runRow is a row of domainauth_records.
type runRow struct {
	Subject string        `db:"subject"`
	Kind    timeline.Kind `db:"kind"`
	Text    *string       `db:"text"`
	First   engine.Time   `db:"first_seen_at"`
	Last    engine.Time   `db:"last_seen_at"`
}

func (r runRow) run() measuring.Run {
	return measuring.Run{Kind: r.Kind, Subject: r.Subject, Text: r.Text, First: r.First.Time(), Last: r.Last.Time()}
}
