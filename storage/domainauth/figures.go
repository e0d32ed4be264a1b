package domainauth

import (
	"context"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	totalsOfDomains = engine.Register("messages of domains", `
		SELECT domain_id, `+total(sumMessages)+` AS messages, `+total(sumAligned)+` AS passing FROM domainauth_totals
		WHERE org_id = $1 AND domain_id IN (SELECT j.atom FROM json_each($2) AS j) AND day >= $3 AND day < $4 GROUP BY domain_id`)
	coverageOfDomains = engine.Register("days of domains that reports cover", `
		SELECT domain_id, count(DISTINCT day) AS number FROM domainauth_reporter_days
		WHERE org_id = $1 AND domain_id IN (SELECT j.atom FROM json_each($2) AS j) AND day >= $3 AND day < $4 GROUP BY domain_id`)
	decisionsOfDomains = engine.Register("numbers of sources of domains by decision", `
		SELECT domain_id, decision, count(*) AS number FROM domainauth_sources
		WHERE org_id = $1 AND domain_id IN (SELECT j.atom FROM json_each($2) AS j) AND last_day >= 0 GROUP BY domain_id, decision`)
	findingsOfDomains = engine.Register("numbers of open findings of domains", `
		SELECT domain_id, count(*) AS number FROM domainauth_findings
		WHERE org_id = $1 AND domain_id IN (SELECT j.atom FROM json_each($2) AS j) AND closed_day IS NULL GROUP BY domain_id`)
	// totalsByDay has covered days without messages too. A join would take long on PostgreSQL
	// while it has no statistics, as after a first import.
	totalsByDay = engine.Register("messages of a domain by day", `
		SELECT day, `+total("passed_both")+` AS passed_both, `+total("dkim_only")+` AS dkim_only, `+total("spf_only")+` AS spf_only, `+total("failing")+` AS failing,
			`+total("accepted")+` AS accepted, `+total("quarantined")+` AS quarantined, `+total("rejected")+` AS rejected
		FROM (
			SELECT DISTINCT day, 0 AS passed_both, 0 AS dkim_only, 0 AS spf_only, 0 AS failing, 0 AS accepted, 0 AS quarantined, 0 AS rejected
			FROM domainauth_reporter_days WHERE org_id = $1 AND domain_id = $2 AND day >= $3 AND day < $4
			UNION ALL
			SELECT day, `+sumOf(dispositions, []string{"both"})+`, `+sumOf(dispositions, []string{"dkim"})+`, `+sumOf(dispositions, []string{"spf"})+`,
				`+sumOf(dispositions, []string{"fail", "relayed"})+`, `+sumOf([]string{"none"}, outcomes)+`, `+sumOf([]string{"quarantine"}, outcomes)+`,
				`+sumOf([]string{"reject"}, outcomes)+`
			FROM domainauth_totals WHERE org_id = $1 AND domain_id = $2 AND day >= $3 AND day < $4) AS parts
		GROUP BY day ORDER BY day`)
	rowsOfDomain = engine.Register("messages of a domain by day and source", `
		SELECT day, source, `+sumAligned+` AS aligned, `+sumFail+` AS failing, `+sumRelayed+` AS relayed FROM domainauth_daily
		WHERE org_id = $1 AND domain_id = $2 AND day >= $3 AND day < $4`)
	coverageOfDomain = engine.Register("days of a domain that reports cover", `
		SELECT day, reporter FROM domainauth_reporter_days WHERE org_id = $1 AND domain_id = $2 AND day >= $3 AND day < $4`)
)

// numberRow is a number of things of a domain.
type numberRow struct {
	DomainID string           `db:"domain_id"`
	Decision figures.Decision `db:"decision"`
	Number   int              `db:"number"`
}

// totalsRow has the messages of a domain.
type totalsRow struct {
	DomainID string `db:"domain_id"`
	Messages int64  `db:"messages"`
	Passing  int64  `db:"passing"`
}

// Summaries implements [domainauth.FigureStore].
func (s Store) Summaries(ctx context.Context, orgID string, domainIDs []string, w domainauth.Days) (map[string]domainauth.Summary, error) {
	ids, err := engine.EncodeTexts(domainIDs)
	if err != nil {
		return nil, err
	}
	all := map[string]domainauth.Summary{}
	from, to := daySpan(w)
	totals, err := engine.List[totalsRow](ctx, s.db, totalsOfDomains, orgID, ids, from, to)
	if err != nil {
		return nil, err
	}
	for _, r := range totals {
		all[r.DomainID] = domainauth.Summary{Messages: r.Messages, Passing: r.Passing}
	}
	for _, part := range []struct {
		statement *engine.Statement
		args      []any
		set       func(*domainauth.Summary, numberRow)
	}{
		{coverageOfDomains, []any{orgID, ids, from, to}, func(s *domainauth.Summary, r numberRow) { s.CoverageDays = r.Number }},
		{findingsOfDomains, []any{orgID, ids}, func(s *domainauth.Summary, r numberRow) { s.Findings = r.Number }},
		{decisionsOfDomains, []any{orgID, ids}, setDecision},
	} {
		rows, err := engine.List[numberRow](ctx, s.db, part.statement, part.args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			summary := all[r.DomainID]
			part.set(&summary, r)
			all[r.DomainID] = summary
		}
	}
	return all, nil
}

func setDecision(s *domainauth.Summary, r numberRow) {
	switch r.Decision {
	case figures.Confirmed:
		s.Confirmed = r.Number
	case figures.Rejected:
		s.Rejected = r.Number
	default:
		s.Unreviewed += r.Number
	}
}

// dayRow has the messages of one day.
type dayRow struct {
	Day         int64 `db:"day"`
	Both        int64 `db:"passed_both"`
	DKIMOnly    int64 `db:"dkim_only"`
	SPFOnly     int64 `db:"spf_only"`
	Failing     int64 `db:"failing"`
	Accepted    int64 `db:"accepted"`
	Quarantined int64 `db:"quarantined"`
	Rejected    int64 `db:"rejected"`
}

func (r dayRow) day() domainauth.Day {
	return domainauth.Day{
		Date: dayTime(r.Day), Both: r.Both, DKIMOnly: r.DKIMOnly, SPFOnly: r.SPFOnly, Failing: r.Failing,
		None: r.Accepted, Quarantined: r.Quarantined, Rejected: r.Rejected,
	}
}

// Totals implements [domainauth.FigureStore].
func (s Store) Totals(ctx context.Context, orgID, domainID string, w domainauth.Days) ([]domainauth.Day, error) {
	from, to := daySpan(w)
	return engine.ListAs(ctx, s.db, dayRow.day, totalsByDay, orgID, domainID, from, to)
}

// sourceDayRow has the messages of one day and source.
type sourceDayRow struct {
	Day     int64  `db:"day"`
	Source  string `db:"source"`
	Aligned int64  `db:"aligned"`
	Failing int64  `db:"failing"`
	Relayed int64  `db:"relayed"`
}

// Rows implements [domainauth.FigureStore].
func (s Store) Rows(ctx context.Context, orgID, domainID string, w domainauth.Days) ([]figures.Row, error) {
	from, to := daySpan(w)
	stored, err := engine.List[sourceDayRow](ctx, s.db, rowsOfDomain, orgID, domainID, from, to)
	rows := make([]figures.Row, 0, 2*len(stored))
	for _, r := range stored {
		row := figures.Row{Day: dayTime(r.Day), Source: r.Source}
		if r.Aligned > 0 {
			row.Messages, row.Aligned = r.Aligned, true
			rows = append(rows, row)
		}
		if row.Messages, row.Aligned = r.Failing, false; r.Failing > 0 {
			rows = append(rows, row)
		}
		if row.Messages, row.RelayBroken = r.Relayed, true; r.Relayed > 0 {
			rows = append(rows, row)
		}
	}
	return rows, err
}

// coverageRow is a day that a reporter covers.
type coverageRow struct {
	Day      int64  `db:"day"`
	Reporter string `db:"reporter"`
}

// Coverage implements [domainauth.FigureStore].
func (s Store) Coverage(ctx context.Context, orgID, domainID string, w domainauth.Days) ([]readiness.Coverage, error) {
	from, to := daySpan(w)
	return engine.ListAs(ctx, s.db, func(r coverageRow) readiness.Coverage {
		return readiness.Coverage{Day: dayTime(r.Day), Reporter: r.Reporter}
	}, coverageOfDomain, orgID, domainID, from, to)
}
