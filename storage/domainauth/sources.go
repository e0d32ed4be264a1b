package domainauth

import (
	"context"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// sourceSums has the messages of sources in a window: whole months from the monthly figures,
// and the days before and after them from the daily ones. $1 and $2 are the organization and
// the domain, $3 to $8 the windows of windowParts.
var sourceSums = `SELECT source, ` + total("messages") + ` AS messages, ` + total("aligned") + ` AS aligned, ` + total("spf") + ` AS spf, ` + total("dkim") + ` AS dkim FROM (
			SELECT source, ` + partSums + ` FROM domainauth_daily WHERE org_id = $1 AND domain_id = $2 AND day >= $3 AND day < $4
			UNION ALL
			SELECT source, ` + partSums + ` FROM domainauth_monthly WHERE org_id = $1 AND domain_id = $2 AND month >= $5 AND month < $6
			UNION ALL
			SELECT source, ` + partSums + ` FROM domainauth_daily WHERE org_id = $1 AND domain_id = $2 AND day >= $7 AND day < $8) AS parts
		GROUP BY source`

var partSums = sumMessages + ` AS messages, ` + sumAligned + ` AS aligned, ` + sumSPF + ` AS spf, ` + sumDKIM + ` AS dkim`

const sourceColumns = `s.id, s.name, s.provider, s.classification, s.decision, s.first_day, s.last_day, s.sample_ips`

var (
	// sourcesByVolume has the selected sources with their number. The sources are not joined,
	// and OR makes PostgreSQL read them once: without statistics, as after a first import, it
	// would read all of them for each row.
	sourcesByVolume = engine.Register("sources of a domain by messages", `
		SELECT source, messages, aligned, spf, dkim, number FROM (
			SELECT source, messages, aligned, spf, dkim, count(*) OVER () AS number FROM (`+sourceSums+`) AS w
			WHERE messages > 0 AND ($9 = '' AND $10 = '' OR source IN (SELECT s.id FROM domainauth_sources AS s
				WHERE s.org_id = $1 AND s.domain_id = $2 AND ($9 = '' OR s.decision = $9) AND ($10 = '' OR s.classification = $10)))) AS chosen
		WHERE messages < $11 OR messages = $11 AND source > $12
		ORDER BY messages DESC, source LIMIT $13`)
	sourcesByID = engine.Register("sources of a domain by id", `
		SELECT `+sourceColumns+` FROM domainauth_sources AS s
		WHERE s.org_id = $1 AND s.domain_id = $2 AND s.id IN (SELECT j.atom FROM json_each($3) AS j)`)
	sourceByID = engine.Register("source of a domain by id", `
		SELECT `+sourceColumns+`, w.messages, w.aligned, w.spf, w.dkim FROM domainauth_sources AS s CROSS JOIN (
			SELECT COALESCE(`+total(sumMessages)+`, 0) AS messages, COALESCE(`+total(sumAligned)+`, 0) AS aligned,
				COALESCE(`+total(sumSPF)+`, 0) AS spf, COALESCE(`+total(sumDKIM)+`, 0) AS dkim
			FROM domainauth_daily WHERE org_id = $1 AND domain_id = $2 AND source = $3 AND day >= $4 AND day < $5) AS w
		WHERE s.org_id = $1 AND s.domain_id = $2 AND s.id = $3 AND s.last_day >= 0`)
	openFindings = engine.Register("open findings of sources", `
		SELECT source, code, detail, opened_day FROM domainauth_findings
		WHERE org_id = $1 AND domain_id = $2 AND closed_day IS NULL AND source IN (SELECT j.atom FROM json_each($3) AS j)`)
	decideSource = engine.Register("decide about source", `
		UPDATE domainauth_sources SET decision = $1, decided_at = $2, decided_by = $3 WHERE org_id = $4 AND domain_id = $5 AND id = $6`)
	registryOfDomain = engine.Register("registry of sources", `
		SELECT id, name, decision, classification, first_day FROM domainauth_sources WHERE org_id = $1 AND domain_id = $2 AND last_day >= 0`)
)

// sourceRow is a source with its messages in a window.
type sourceRow struct {
	ID             string                 `db:"id"`
	Name           string                 `db:"name"`
	Provider       string                 `db:"provider"`
	Classification sources.Classification `db:"classification"`
	Decision       figures.Decision       `db:"decision"`
	FirstDay       int64                  `db:"first_day"`
	LastDay        int64                  `db:"last_day"`
	SampleIPs      string                 `db:"sample_ips"`
	Messages       int64                  `db:"messages"`
	Aligned        int64                  `db:"aligned"`
	SPF            int64                  `db:"spf"`
	DKIM           int64                  `db:"dkim"`
}

func (r sourceRow) source() (domainauth.Source, error) {
	ips, err := engine.DecodeTexts(r.SampleIPs)
	s := domainauth.Source{
		ID: r.ID, Name: r.Name, Classification: r.Classification, Decision: r.Decision,
		MessageCount: r.Messages, AlignedCount: r.Aligned, FailingCount: r.Messages - r.Aligned, SPFPass: r.SPF, DKIMPass: r.DKIM,
		FirstSeenAt: dayTime(r.FirstDay), LastSeenAt: dayTime(r.LastDay), SampleIPs: ips,
	}
	if r.Provider != "" {
		s.Provider = &r.Provider
	}
	return s, err
}

// windowParts returns the bounds of the three parts of a window: days, whole months, days.
func windowParts(w domainauth.Days) []any {
	from, to := daySpan(w)
	first, last := from, monthNumber(to)
	if monthNumber(from) != from {
		first = nextMonth(from)
	}
	if first >= last {
		return []any{from, to, 0, 0, 0, 0}
	}
	return []any{from, first, first, last, last, to}
}

// volumeRow has the messages of a source in a window, and the number of sources.
type volumeRow struct {
	Source   string `db:"source"`
	Messages int64  `db:"messages"`
	Aligned  int64  `db:"aligned"`
	SPF      int64  `db:"spf"`
	DKIM     int64  `db:"dkim"`
	Number   int    `db:"number"`
}

// Sources implements [domainauth.SourceStore].
func (s Store) Sources(ctx context.Context, orgID, domainID string, f domainauth.SourceFilter, after *domainauth.SourcePlace, limit int) ([]domainauth.Source, int, error) {
	place := domainauth.SourcePlace{Messages: math.MaxInt64}
	if after != nil {
		place = *after
	}
	args := append([]any{orgID, domainID}, windowParts(f.Days)...)
	args = append(args, string(f.Decision), string(f.Classification), place.Messages, place.ID, limit)
	volumes, err := engine.List[volumeRow](ctx, s.db, sourcesByVolume, args...)
	if err != nil || len(volumes) == 0 {
		return nil, 0, err
	}
	known, err := s.sourceRows(ctx, orgID, domainID, volumes)
	if err != nil {
		return nil, 0, err
	}
	all := make([]domainauth.Source, 0, len(volumes))
	for _, v := range volumes {
		row, found := known[v.Source]
		if !found { // deleted in between
			continue
		}
		row.Messages, row.Aligned, row.SPF, row.DKIM = v.Messages, v.Aligned, v.SPF, v.DKIM
		source, err := row.source()
		if err != nil {
			return nil, 0, err
		}
		all = append(all, source)
	}
	return all, volumes[0].Number, s.addFindings(ctx, orgID, domainID, all)
}

// sourceRows returns the sources without their messages, by their ids.
func (s Store) sourceRows(ctx context.Context, orgID, domainID string, volumes []volumeRow) (map[string]sourceRow, error) {
	ids := make([]string, len(volumes))
	for i, v := range volumes {
		ids[i] = v.Source
	}
	parameter, err := engine.EncodeTexts(ids)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[sourceRow](ctx, s.db, sourcesByID, orgID, domainID, parameter)
	known := make(map[string]sourceRow, len(rows))
	for _, r := range rows {
		known[r.ID] = r
	}
	return known, err
}

// Source implements [domainauth.SourceStore].
func (s Store) Source(ctx context.Context, orgID, domainID, id string, w domainauth.Days) (domainauth.Source, error) {
	from, to := daySpan(w)
	row, err := engine.One[sourceRow](ctx, s.db, "source", sourceByID, orgID, domainID, id, from, to)
	if err != nil {
		return domainauth.Source{}, err
	}
	source, err := row.source()
	if err != nil {
		return source, err
	}
	all := []domainauth.Source{source}
	err = s.addFindings(ctx, orgID, domainID, all)
	return all[0], err
}

// findingRow is an open finding of a source.
type findingRow struct {
	Source string       `db:"source"`
	Code   sources.Code `db:"code"`
	Detail string       `db:"detail"`
	Opened int64        `db:"opened_day"`
}

// addFindings sets the most important open finding of each source.
func (s Store) addFindings(ctx context.Context, orgID, domainID string, all []domainauth.Source) error {
	if len(all) == 0 {
		return nil
	}
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	parameter, err := engine.EncodeTexts(ids)
	if err != nil {
		return err
	}
	rows, err := engine.List[findingRow](ctx, s.db, openFindings, orgID, domainID, parameter)
	if err != nil {
		return err
	}
	open := map[string][]sources.Finding{}
	for _, r := range rows {
		open[r.Source] = append(open[r.Source], sources.Finding{Code: r.Code, Detail: r.Detail, OpenedAt: dayTime(r.Opened)})
	}
	for i := range all {
		if f, found := sources.Foremost(open[all[i].ID]); found {
			all[i].Finding = &domainauth.Finding{Code: f.Code, Detail: f.Detail, OpenedAt: f.OpenedAt}
		}
	}
	return nil
}

// Decide implements [domainauth.SourceStore].
func (s Store) Decide(ctx context.Context, orgID, domainID, id string, d figures.Decision, by string, at time.Time) error {
	return s.db.Change(ctx, "source", decideSource, string(d), engine.At(at), by, orgID, domainID, id)
}

// registryRow is what the rules know of a source.
type registryRow struct {
	ID             string                 `db:"id"`
	Name           string                 `db:"name"`
	Decision       figures.Decision       `db:"decision"`
	Classification sources.Classification `db:"classification"`
	FirstDay       int64                  `db:"first_day"`
}

// Registry implements [domainauth.SourceStore].
func (s Store) Registry(ctx context.Context, orgID, domainID string) ([]readiness.Source, error) {
	return engine.ListAs(ctx, s.db, func(r registryRow) readiness.Source {
		return readiness.Source{Source: figures.Source{ID: r.ID, Decision: r.Decision, Classification: r.Classification}, FirstSeen: dayTime(r.FirstDay)}
	}, registryOfDomain, orgID, domainID)
}

// Names implements [domainauth.SourceStore].
func (s Store) Names(ctx context.Context, orgID, domainID string) (map[string]string, error) {
	rows, err := engine.List[registryRow](ctx, s.db, registryOfDomain, orgID, domainID)
	names := make(map[string]string, len(rows))
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	return names, err
}
