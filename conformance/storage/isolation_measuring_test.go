package storage_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/storage"
)

// ownedDomain is a domain that was polled and refreshed.
type ownedDomain struct {
	domain measuring.Domain
	claim  measuring.Claim
}

// ref names the domain for an organization.
func (o ownedDomain) ref(org string) measuring.DomainRef {
	return measuring.DomainRef{OrgID: org, ID: o.domain.ID, Name: o.domain.Name}
}

// poll returns a poll with a record of a text.
func (o ownedDomain) poll(text string, at time.Time) measuring.Poll {
	record := lookup.Record{Name: "_dmarc." + o.domain.Name, Kind: timeline.PolicyChange, Type: lookup.TXT, Text: &text, Fresh: true}
	return measuring.Poll{Snapshot: lookup.Snapshot{LookedAt: at, At: at, Records: []lookup.Record{record}}, Lease: later(60), Next: later(3600)}
}

// results returns a finding and an event.
func (o ownedDomain) results(name string) ([]measuring.Finding, []measuring.Event) {
	f := measuring.Finding{Source: "same", Finding: sources.Finding{Code: sources.NewSource, Detail: name, OpenedAt: figures.DayOf(start)}}
	e := timeline.Event{ID: "same", Kind: timeline.PolicyChange, Origin: timeline.DNS, Subject: "_dmarc.same", OccurredAt: start, ObservedAt: start, Sightings: 1}
	return []measuring.Finding{f}, []measuring.Event{{Event: e, Title: name}}
}

// ownMeasured gives the organization a domain with reports, figures, a source, polls, findings
// and events.
func (o *ownedObjects) ownMeasured(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, store := t.Context(), db.DomainMeasuring()
	must(t, db.DMARCReports().AddDomain(ctx, o.org, "measured.example", start))
	d, err := db.DomainAuth().Domain(ctx, o.org, "measured.example")
	must(t, err)
	o.measured.domain, err = store.DomainToPoll(ctx, o.org, d.ID)
	must(t, err)
	_, err = store.SavePoll(ctx, o.org, d.ID, o.measured.poll("v=DMARC1; p=none", start))
	must(t, err)
	day := start.Unix() / (24 * 60 * 60)
	for _, statement := range []string{
		`INSERT INTO domainauth_reports (org_id, id, domain_id, file_id, identity, reporter, organization, report_id, begins_at, ends_at, day, policy,
			state, records, messages, passing, warnings, received_at)
			VALUES ($1, 'report', $2, 'f', 'same', 'r', '', '', 0, 0, $3, 'v=DMARC1; p=none', 'counted', 0, 0, 0, '[]', 0)`,
		`INSERT INTO domainauth_sources (org_id, domain_id, id, key, name, provider, classification, support, decision, decided_by, first_day, last_day, sample_ips)
			VALUES ($1, $2, 'same', 'same', 'same', '', 'unknown', '{}', 'unreviewed', '', 0, $3, '[]')`,
		`INSERT INTO domainauth_daily (org_id, domain_id, day, source, none_both, none_dkim, none_spf, none_fail, none_relayed, quarantine_both, quarantine_dkim,
			quarantine_spf, quarantine_fail, quarantine_relayed, reject_both, reject_dkim, reject_spf, reject_fail, reject_relayed)
			VALUES ($1, $2, $3, 'same', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
		`INSERT INTO domainauth_rows (org_id, domain_id, day, report, n, source, ip, messages, disposition, dkim, spf, relayed, header_from, envelope_from, details)
			VALUES ($1, $2, $3, 'report', 0, 'same', '', 1, 'none', TRUE, TRUE, FALSE, '', '', '')`,
	} {
		_, err := db.Writer().ExecContext(ctx, statement, o.org, d.ID, day)
		must(t, err)
	}
	o.measured.claim = measuring.Claim{At: start, Until: later(600)}
	claimed, err := store.ClaimRefresh(ctx, o.measured.ref(o.org), o.measured.claim, start)
	must(t, err)
	findings, events := o.measured.results("same")
	replaced, err := store.Replace(ctx, o.measured.ref(o.org), o.measured.claim, findings, events)
	must(t, err)
	if !claimed || !replaced {
		t.Fatal("the domain was not refreshed")
	}
}

// measuredState returns what is known of the organization's domain.
func (o ownedObjects) measuredState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{
		"DomainToPoll", "RefDomain", "RecordRuns", "EachStated", "ReportDays", "measuring.RefreshStore.Sources", "EachDay", "Findings", "DomainIDs",
	} {
		found, err := storeCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	rows, err := db.DMARCReports().CountRows(t.Context(), o.org, o.measured.domain.ID)
	must(t, err)
	events, err := db.DomainAuth().Changes(t.Context(), o.org, o.measured.domain.ID)
	must(t, err)
	return append(seen, rows, events)
}

// measuringCalls returns calls about domains that are measured. The organization org makes them
// with the domain of another organization, o.
func measuringCalls(o ownedObjects, org string) map[string]storeCall {
	mine := o.measured
	stolen := mine.domain
	stolen.OrgID = org
	return map[string]storeCall{
		"DomainToPoll": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().DomainToPoll(t.Context(), org, mine.domain.ID)
		},
		"ClaimPoll": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().ClaimPoll(t.Context(), stolen, later(9))
		},
		"SavePoll": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().SavePoll(t.Context(), org, mine.domain.ID, mine.poll("v=DMARC1; p=reject", later(1)))
		},
		"measuring.PollStore.Request": func(t *testing.T, db *storage.DB) (any, error) {
			queued, _, err := db.DomainMeasuring().Request(t.Context(), org, mine.domain.ID, later(1), start)
			return queued, err
		},
		"PurgeDomain": func(t *testing.T, db *storage.DB) (any, error) {
			all := later(100_000_000)
			return db.DomainMeasuring().PurgeDomain(t.Context(), org, mine.domain.ID, measuring.Limits{Rows: all, Figures: all}, start, 10)
		},
		"DomainIDs": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().DomainIDs(t.Context(), org)
		},
		"RefDomain": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().RefDomain(t.Context(), org, mine.domain.ID)
		},
		"ClaimRefresh": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().ClaimRefresh(t.Context(), mine.ref(org), measuring.Claim{At: later(1), Until: later(9)}, later(1))
		},
		"RecordRuns": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().RecordRuns(t.Context(), mine.ref(org))
		},
		"EachStated": func(t *testing.T, db *storage.DB) (any, error) {
			var all []measuring.Stated
			err := db.DomainMeasuring().EachStated(t.Context(), mine.ref(org), func(s measuring.Stated) { all = append(all, s) })
			return all, err
		},
		"ReportDays": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().ReportDays(t.Context(), mine.ref(org))
		},
		"measuring.RefreshStore.Sources": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().Sources(t.Context(), mine.ref(org))
		},
		"EachDay": func(t *testing.T, db *storage.DB) (any, error) {
			var all []sources.Day
			err := db.DomainMeasuring().EachDay(t.Context(), mine.ref(org), func(_ string, d sources.Day) { all = append(all, d) })
			return all, err
		},
		"Findings": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainMeasuring().Findings(t.Context(), mine.ref(org))
		},
		"measuring.RefreshStore.Replace": func(t *testing.T, db *storage.DB) (any, error) {
			findings, events := mine.results("stolen")
			return db.DomainMeasuring().Replace(t.Context(), mine.ref(org), mine.claim, findings, events)
		},
	}
}
