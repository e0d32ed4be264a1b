package domainauth

import (
	"context"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	domainsToRefresh = engine.Register("domains to refresh", `
		SELECT org_id, id, domain FROM domainauth_domains
		WHERE refresh_at <= $1 AND (refreshed_at IS NULL OR refreshed_at <= $2 OR refreshed_at > $1) AND `+engine.NotDeleted("org_id")+` ORDER BY refresh_at, id LIMIT $3`)
	refDomain = engine.RegisterPoint("domain to refresh", `
		SELECT org_id, id, domain FROM domainauth_domains WHERE org_id = $1 AND id = $2`)
	claimRefresh = engine.Register("claim refresh of domain", `
		UPDATE domainauth_domains SET refresh_at = $1, refreshed_at = $2
		WHERE org_id = $3 AND id = $4 AND (refreshed_at IS NULL OR refreshed_at <= $5 OR refreshed_at > $2)`)
	endRefresh = engine.Register("end refresh of domain", `
		UPDATE domainauth_domains SET refresh_at = CASE WHEN refresh_at = $1 THEN NULL ELSE refresh_at END
		WHERE org_id = $2 AND id = $3 AND refreshed_at = $4`)
	runsOfDomain = engine.Register("runs of records of a domain", `
		SELECT subject, kind, text, first_seen_at, last_seen_at FROM domainauth_records
		WHERE org_id = $1 AND domain_id = $2 ORDER BY subject, first_seen_at`)
	statedByReports = engine.Register("policies of reports about a domain", `
		SELECT id, reporter, policy, begins_at, ends_at, received_at FROM domainauth_reports
		WHERE org_id = $1 AND domain_id = $2 AND state = 'counted' AND policy <> ''`)
	daysOfReports = engine.Register("days of reports about a domain", `
		SELECT day FROM domainauth_totals WHERE org_id = $1 AND domain_id = $2
		UNION SELECT day FROM domainauth_reports WHERE org_id = $1 AND domain_id = $2 AND state = 'counted'
		ORDER BY 1`)
	identitiesOfSources = engine.Register("identities of sources of a domain", `
		SELECT id, key, name, provider, classification FROM domainauth_sources WHERE org_id = $1 AND domain_id = $2`)
	// Cells of figures are at most intake.MaxMessages, so their sums do not overflow.
	dailyBySource = engine.Register("daily figures of a domain by source", `
		SELECT source, day, `+strings.Join([]string{sumMessages, sumAligned, sumSPF, sumDKIM}, ", ")+` FROM domainauth_daily
		WHERE org_id = $1 AND domain_id = $2 ORDER BY source, day`)
	findingsOfDomain = engine.Register("all findings of a domain", `
		SELECT source, code, opened_day, closed_day, detail, announced FROM domainauth_findings WHERE org_id = $1 AND domain_id = $2`)
	deleteFindings = engine.Register("delete findings that are no more", `
		DELETE FROM domainauth_findings WHERE org_id = $1 AND domain_id = $2 AND (source, code, opened_day) NOT IN (
			SELECT CAST(v ->> 'source' AS bytetext), CAST(v ->> 'code' AS bytetext), CAST(v ->> 'opened' AS bigint) FROM `+engine.ParameterRows(`$3`)+`)`)
	putFindings = engine.Register("put findings", `
		INSERT INTO domainauth_findings (org_id, domain_id, source, code, opened_day, closed_day, detail, announced)
		SELECT $1, $2, v ->> 'source', v ->> 'code', CAST(v ->> 'opened' AS bigint), CAST(v ->> 'closed' AS bigint), v ->> 'detail', v ->> 'announced' = 'yes'
		FROM `+engine.ParameterRows(`$3`)+` WHERE TRUE
		ON CONFLICT (org_id, domain_id, source, code, opened_day) DO UPDATE SET closed_day = excluded.closed_day, detail = excluded.detail`)
	deleteChanges = engine.Register("delete changes that are no more", `
		DELETE FROM domainauth_events WHERE org_id = $1 AND domain_id = $2 AND kind IN ('policy_change', 'setup_change') AND id NOT IN (
			SELECT CAST(v ->> 'id' AS bytetext) FROM `+engine.ParameterRows(`$3`)+`)`)
	putChanges = engine.Register("put changes of records", `
		INSERT INTO domainauth_events (org_id, id, domain_id, kind, origin, subject, occurred_at, observed_at, sightings, old_record, new_record, title, note, actor)
		SELECT $1, v ->> 'id', $2, v ->> 'kind', v ->> 'origin', v ->> 'subject', CAST(v ->> 'occurred' AS bigint), CAST(v ->> 'observed' AS bigint),
			CAST(v ->> 'sightings' AS bigint), v ->> 'old', v ->> 'new', v ->> 'title', '', ''
		FROM `+engine.ParameterRows(`$3`)+` WHERE TRUE
		ON CONFLICT (org_id, domain_id, id) DO UPDATE SET kind = excluded.kind, origin = excluded.origin, subject = excluded.subject,
			occurred_at = excluded.occurred_at, observed_at = excluded.observed_at, sightings = excluded.sightings,
			old_record = excluded.old_record, new_record = excluded.new_record, title = excluded.title`)
)

// refRow names a domain.
type refRow struct {
	OrgID  string `db:"org_id"`
	ID     string `db:"id"`
	Domain string `db:"domain"`
}

func (r refRow) ref() measuring.DomainRef {
	return measuring.DomainRef{OrgID: r.OrgID, ID: r.ID, Name: r.Domain}
}

// DomainsToRefresh implements [measuring.RefreshStore].
func (s Measuring) DomainsToRefresh(ctx context.Context, now, after time.Time, limit int) ([]measuring.DomainRef, error) {
	return engine.ListAs(ctx, s.db, refRow.ref, domainsToRefresh, engine.At(now), engine.At(after), limit)
}

// RefDomain implements [measuring.RefreshStore].
func (s Measuring) RefDomain(ctx context.Context, orgID, id string) (measuring.DomainRef, error) {
	row, err := engine.One[refRow](ctx, s.db, "domain", refDomain, orgID, id)
	return row.ref(), err
}

// ClaimRefresh implements [measuring.RefreshStore].
func (s Measuring) ClaimRefresh(ctx context.Context, d measuring.DomainRef, c measuring.Claim, after time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, claimRefresh, engine.At(c.Until), engine.At(c.At), d.OrgID, d.ID, engine.At(after))
	return n > 0, err
}

// RecordRuns implements [measuring.RefreshStore].
func (s Measuring) RecordRuns(ctx context.Context, d measuring.DomainRef) ([]measuring.Run, error) {
	return engine.ListAs(ctx, s.db, runRow.run, runsOfDomain, d.OrgID, d.ID)
}

// EachStated implements [measuring.RefreshStore].
func (s Measuring) EachStated(ctx context.Context, d measuring.DomainRef, f func(measuring.Stated)) error {
	return s.db.Each(ctx, statedByReports, []any{d.OrgID, d.ID}, func(rows *sqlx.Rows) error {
		var r measuring.Stated
		var begin, end, received engine.Time
		if err := rows.Scan(&r.ReportID, &r.Reporter, &r.Policy, &begin, &end, &received); err != nil {
			return err
		}
		r.Begin, r.End, r.ReceivedAt = begin.Time(), end.Time(), received.Time()
		f(r)
		return nil
	})
}

// ReportDays implements [measuring.RefreshStore].
func (s Measuring) ReportDays(ctx context.Context, d measuring.DomainRef) ([]time.Time, error) {
	numbers, err := engine.Values[int64](ctx, s.db, daysOfReports, d.OrgID, d.ID)
	days := make([]time.Time, len(numbers))
	for i, n := range numbers {
		days[i] = dayTime(n)
	}
	return days, err
}

// identityRow is a row of domainauth_sources.
type identityRow struct {
	ID             string                 `db:"id"`
	Key            string                 `db:"key"`
	Name           string                 `db:"name"`
	Provider       string                 `db:"provider"`
	Classification figures.Classification `db:"classification"`
}

func (r identityRow) source() measuring.Source {
	return measuring.Source{ID: r.ID, Identity: sources.Identity{Key: r.Key, Name: r.Name, Provider: r.Provider, Classification: r.Classification}}
}

// Sources implements [measuring.RefreshStore].
func (s Measuring) Sources(ctx context.Context, d measuring.DomainRef) ([]measuring.Source, error) {
	return engine.ListAs(ctx, s.db, identityRow.source, identitiesOfSources, d.OrgID, d.ID)
}

// EachDay implements [measuring.RefreshStore].
func (s Measuring) EachDay(ctx context.Context, d measuring.DomainRef, f func(source string, day sources.Day)) error {
	var source string
	var number int64
	var day sources.Day
	targets := []any{&source, &number, &day.Messages, &day.Passing, &day.SPFAligned, &day.DKIMAligned}
	return s.db.Each(ctx, dailyBySource, []any{d.OrgID, d.ID}, func(rows *sqlx.Rows) error {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		day.Date = dayTime(number)
		f(source, day)
		return nil
	})
}

// storedFinding is a row of domainauth_findings.
type storedFinding struct {
	Source    string       `db:"source"`
	Code      sources.Code `db:"code"`
	Opened    int64        `db:"opened_day"`
	Closed    *int64       `db:"closed_day"`
	Detail    string       `db:"detail"`
	Announced bool         `db:"announced"`
}

func (r storedFinding) finding() measuring.Finding {
	f := measuring.Finding{Source: r.Source, Announced: r.Announced}
	f.Code, f.Detail, f.OpenedAt = r.Code, r.Detail, dayTime(r.Opened)
	if r.Closed != nil {
		f.ClosedAt = dayTime(*r.Closed)
	}
	return f
}

// Findings implements [measuring.RefreshStore].
func (s Measuring) Findings(ctx context.Context, d measuring.DomainRef) ([]measuring.Finding, error) {
	return engine.ListAs(ctx, s.db, storedFinding.finding, findingsOfDomain, d.OrgID, d.ID)
}

// findingParameter is a finding in a JSON parameter.
type findingParameter struct {
	Source    string `json:"source"`
	Code      string `json:"code"`
	Opened    int64  `json:"opened"`
	Closed    *int64 `json:"closed"`
	Detail    string `json:"detail"`
	Announced string `json:"announced"`
}

// changeParameter is an event in a JSON parameter.
type changeParameter struct {
	ID        string      `json:"id"`
	Kind      string      `json:"kind"`
	Origin    string      `json:"origin"`
	Subject   string      `json:"subject"`
	Occurred  engine.Time `json:"occurred"`
	Observed  engine.Time `json:"observed"`
	Sightings int         `json:"sightings"`
	Old       *string     `json:"old"`
	New       *string     `json:"new"`
	Title     string      `json:"title"`
}

// Replace implements [measuring.RefreshStore].
func (s Measuring) Replace(ctx context.Context, d measuring.DomainRef, c measuring.Claim, findings []measuring.Finding, events []measuring.Event) (bool, error) {
	found, err := engine.JSONParameter(findingParameters(findings))
	if err != nil {
		return false, err
	}
	changes, err := engine.JSONParameter(changeParameters(events))
	if err != nil {
		return false, err
	}
	var claimed bool
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		n, err := s.db.Exec(ctx, endRefresh, engine.At(c.Until), d.OrgID, d.ID, engine.At(c.At))
		claimed = n > 0
		if err != nil || !claimed {
			return err
		}
		for _, one := range []struct {
			statement *engine.Statement
			rows      string
		}{{deleteFindings, found}, {putFindings, found}, {deleteChanges, changes}, {putChanges, changes}} {
			if _, err := s.db.Exec(ctx, one.statement, d.OrgID, d.ID, one.rows); err != nil {
				return err
			}
		}
		return nil
	})
	return claimed, err
}

func findingParameters(findings []measuring.Finding) []findingParameter {
	all := make([]findingParameter, len(findings))
	for i, f := range findings {
		all[i] = findingParameter{Source: f.Source, Code: string(f.Code), Opened: dayNumber(f.OpenedAt), Detail: f.Detail, Announced: "no"}
		if !f.ClosedAt.IsZero() {
			closed := dayNumber(f.ClosedAt)
			all[i].Closed = &closed
		}
		if f.Announced {
			all[i].Announced = "yes"
		}
	}
	return all
}

func changeParameters(events []measuring.Event) []changeParameter {
	all := make([]changeParameter, len(events))
	for i, e := range events {
		all[i] = changeParameter{
			ID: e.ID, Kind: string(e.Kind), Origin: string(e.Origin), Subject: e.Subject, Occurred: engine.At(e.OccurredAt), Observed: engine.At(e.ObservedAt),
			Sightings: e.Sightings, Old: e.Old, New: e.New, Title: e.Title,
		}
	}
	return all
}
