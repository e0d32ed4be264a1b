package storage_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/storage"
)

// domainAuthCalls returns calls about the domain that o has measured. The organization org makes
// them.
func domainAuthCalls(o ownedObjects, org string) map[string]storeCall {
	id := o.measured.domain.ID
	around := domainauth.Days{From: start.AddDate(0, 0, -5), To: start.AddDate(0, 0, 5)}
	filter := domainauth.SourceFilter{Days: around}
	return map[string]storeCall{
		"SaveAcknowledgement": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DomainAuth().SaveAcknowledgement(t.Context(), org, id, readiness.Acknowledgement{At: start})
		},
		"domainauth.FigureStore.Summaries": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Summaries(t.Context(), org, []string{id}, around)
		},
		"Totals": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Totals(t.Context(), org, id, around)
		},
		"Rows": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Rows(t.Context(), org, id, around)
		},
		"Coverage": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Coverage(t.Context(), org, id, around)
		},
		"domainauth.SourceStore.Sources": func(t *testing.T, db *storage.DB) (any, error) {
			all, _, err := db.DomainAuth().Sources(t.Context(), org, id, filter, nil, 10)
			return all, err
		},
		"Source": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Source(t.Context(), org, id, "same", around)
		},
		"domainauth.SourceStore.Decide": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DomainAuth().Decide(t.Context(), org, id, "same", figures.Rejected, "x", start)
		},
		"domainauth.SourceStore.Registry": func(t *testing.T, db *storage.DB) (any, error) { return db.DomainAuth().Registry(t.Context(), org, id) },
		"domainauth.SourceStore.Names":    func(t *testing.T, db *storage.DB) (any, error) { return db.DomainAuth().Names(t.Context(), org, id) },
		"domainauth.TimelineStore.Events": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Events(t.Context(), org, id, domainauth.EventFilter{Limit: 10})
		},
		"CountEvents": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().CountEvents(t.Context(), org, id, domainauth.EventFilter{})
		},
		"Event": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Event(t.Context(), org, id, "same")
		},
		"Changes": func(t *testing.T, db *storage.DB) (any, error) { return db.DomainAuth().Changes(t.Context(), org, id) },
		"InsertEvent": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DomainAuth().InsertEvent(t.Context(), org, id, domainauth.Event{ID: core.NewID(), Kind: timeline.Note, OccurredAt: start, ObservedAt: start}, "x")
		},
		"domainauth.TimelineStore.Stated": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DomainAuth().Stated(t.Context(), org, id, "_dmarc."+o.measured.domain.Name)
		},
	}
}

// reportIntakeCalls returns calls that read reports about the domain that o has measured.
func reportIntakeCalls(o ownedObjects, org string) map[string]storeCall {
	id, day := o.measured.domain.ID, figures.DayOf(start)
	report := intake.Report{ID: "report", DomainID: id, Identity: "same", Reporter: "r", Begin: day, End: day, Day: day, Counted: true, Messages: 7, ReceivedAt: start}
	return map[string]storeCall{
		"Target": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DMARCReports().Target(t.Context(), org, o.measured.domain.Name)
		},
		"intake.Store.Sends": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DMARCReports().Sends(t.Context(), org, "same.example")
		},
		"Stored": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DMARCReports().Stored(t.Context(), org, id, "same")
		},
		"Discard": func(t *testing.T, db *storage.DB) (any, error) {
			_, err := db.DMARCReports().Discard(t.Context(), org, intake.Stored{ID: "report", DomainID: id, Day: day}, 10)
			return nil, err // nothing is left of a report that is not there
		},
		"LockDomains": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DMARCReports().LockDomains(t.Context(), org, []string{id})
		},
		"AddReports": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DMARCReports().AddReports(t.Context(), org, []intake.Report{report})
		},
		"Finish": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DMARCReports().Finish(t.Context(), org, report)
		},
		"AddRows": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DMARCReports().AddRows(t.Context(), org, []intake.Row{{DomainID: id, ReportID: core.NewID(), SourceID: "same", Day: day, Messages: 7}})
		},
		"intake.Store.Sources": func(t *testing.T, db *storage.DB) (any, error) {
			return db.DMARCReports().Sources(t.Context(), org, id, []string{"same"})
		},
		"SaveSources": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DMARCReports().SaveSources(t.Context(), org, []intake.Source{{DomainID: id, ID: "same", Key: "same", Name: "stolen", Classification: figures.Own}})
		},
		"AddFigures": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.DMARCReports().AddFigures(t.Context(), org, intake.Figures{
				Messages: map[intake.SourceDay]intake.Cells{{DomainID: id, SourceID: "same", Day: day}: {{Disposition: "none", Outcome: "both"}: 7}},
				Coverage: map[intake.ReporterDay]bool{{DomainID: id, Reporter: "r", Day: day}: true}, Received: map[string]time.Time{id: later(60)}, Now: later(60),
			})
		},
	}
}
