package domainauth

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores domains with their figures, sources and events.
type Store struct{ db *engine.DB }

var (
	_ domainauth.Store         = Store{}
	_ domainauth.FigureStore   = Store{}
	_ domainauth.SourceStore   = Store{}
	_ domainauth.TimelineStore = Store{}
)

// New returns the store of domain authentication on the database.
func New(db *engine.DB) Store { return Store{db} }

const domainColumns = `id, domain, token, snapshot, measured_at, requested_at, last_report_at, acknowledgement, created_at`

var (
	domainsByName = engine.Register("domain authentication domains", `
		SELECT `+domainColumns+` FROM domainauth_domains WHERE org_id = $1 AND domain > $2 ORDER BY domain LIMIT $3`)
	countDomains = engine.Register("count domain authentication domains", `
		SELECT count(*) FROM domainauth_domains WHERE org_id = $1`)
	domainByName = engine.RegisterPoint("domain authentication domain by name", `
		SELECT `+domainColumns+` FROM domainauth_domains WHERE org_id = $1 AND domain = $2`)
	// lockDomain locks the domain on PostgreSQL. SQLite has one writer at a time.
	lockDomain = engine.Register("lock domain authentication domain", `
		SELECT `+domainColumns+` FROM domainauth_domains WHERE org_id = $1 AND domain = $2 /*pg FOR UPDATE*/`)
	missingDomains = engine.Register("verified identities without domain authentication", `
		SELECT i.identity_key FROM identities AS i
		WHERE i.org_id = $1 AND i.verification = 'success' AND i.identity_key NOT LIKE '%@%'
			AND NOT EXISTS (SELECT 1 FROM domainauth_domains AS d WHERE d.org_id = i.org_id AND d.domain = i.identity_key)
		ORDER BY i.identity_key`)
	insertDomain = engine.Register("insert domain authentication domain", `
		INSERT INTO domainauth_domains (org_id, id, domain, token, snapshot, measure_at, acknowledgement, created_at)
		VALUES ($1, $2, $3, $4, '', $5, '', $6) ON CONFLICT DO NOTHING`)
	saveAcknowledgement = engine.Register("save acknowledgement of domain", `
		UPDATE domainauth_domains SET acknowledgement = $1 WHERE org_id = $2 AND id = $3`)
)

// domainRow is a row of domainauth_domains.
type domainRow struct {
	ID              string       `db:"id"`
	Domain          string       `db:"domain"`
	Token           string       `db:"token"`
	Snapshot        string       `db:"snapshot"`
	MeasuredAt      *engine.Time `db:"measured_at"`
	RequestedAt     *engine.Time `db:"requested_at"`
	LastReportAt    *engine.Time `db:"last_report_at"`
	Acknowledgement string       `db:"acknowledgement"`
	CreatedAt       engine.Time  `db:"created_at"`
}

func (r domainRow) domain() (domainauth.Domain, error) {
	d := domainauth.Domain{
		ID: r.ID, Domain: r.Domain, Token: r.Token, MeasuredAt: engine.OptionalTime(r.MeasuredAt),
		RequestedAt: engine.OptionalTime(r.RequestedAt), LastReportAt: engine.OptionalTime(r.LastReportAt), CreatedAt: r.CreatedAt.Time(),
	}
	if r.Snapshot != "" {
		d.Snapshot = &lookup.Snapshot{}
		if err := json.Unmarshal([]byte(r.Snapshot), d.Snapshot); err != nil {
			return d, fmt.Errorf("storage: snapshot of domain: %w", err)
		}
	}
	if r.Acknowledgement != "" {
		d.Acknowledgement = &readiness.Acknowledgement{}
		if err := json.Unmarshal([]byte(r.Acknowledgement), d.Acknowledgement); err != nil {
			return d, fmt.Errorf("storage: acknowledgement of domain: %w", err)
		}
	}
	return d, nil
}

// Enrol implements [domainauth.Store].
func (s Store) Enrol(ctx context.Context, orgID string, now time.Time) error {
	names, err := engine.Values[string](ctx, s.db, missingDomains, orgID)
	for _, name := range names {
		if err := s.AddDomain(ctx, orgID, name, now); err != nil {
			return err
		}
	}
	return err
}

// AddDomain adds a domain of an organization, unless it is there.
func (s Store) AddDomain(ctx context.Context, orgID, name string, now time.Time) error {
	_, err := s.db.Exec(ctx, insertDomain, orgID, core.NewID(), name, newToken(), engine.At(now), engine.At(now))
	return err
}

// newToken returns a text of 26 letters and digits that cannot be guessed.
func newToken() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random))
}

// Domains implements [domainauth.Store].
func (s Store) Domains(ctx context.Context, orgID, after string, limit int) ([]domainauth.Domain, error) {
	return engine.ListParsed(ctx, s.db, domainRow.domain, domainsByName, orgID, after, limit)
}

// CountDomains implements [domainauth.Store].
func (s Store) CountDomains(ctx context.Context, orgID string) (int, error) {
	return count(ctx, s.db, countDomains, orgID)
}

// Domain implements [domainauth.Store].
func (s Store) Domain(ctx context.Context, orgID, name string) (domainauth.Domain, error) {
	row, err := engine.One[domainRow](ctx, s.db, "domain", s.db.LockedInside(ctx, domainByName, lockDomain), orgID, name)
	if err != nil {
		return domainauth.Domain{}, err
	}
	return row.domain()
}

// SaveAcknowledgement implements [domainauth.Store].
func (s Store) SaveAcknowledgement(ctx context.Context, orgID, domainID string, a readiness.Acknowledgement) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return s.db.Change(ctx, "domain", saveAcknowledgement, string(text), orgID, domainID)
}

// count returns the number that a statement counts.
func count(ctx context.Context, db *engine.DB, s *engine.Statement, args ...any) (int, error) {
	all, err := engine.Values[int](ctx, db, s, args...)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return all[0], nil
}
