package storage_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/storage"
)

// ownedFile is a held file with a DMARC report, and the domain to whose address it was sent.
type ownedFile struct {
	domain arrivals.Target
	file   arrivals.File
}

// ownFile gives the organization a held file of a reporter about which a person decided.
func (o *ownedObjects) ownFile(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, store := t.Context(), db.ReportArrivals()
	o.arrived.domain = arrivals.Target{OrgID: o.org, DomainID: core.NewID()}
	_, err := db.Writer().ExecContext(ctx, `
		INSERT INTO domainauth_domains (org_id, id, domain, token, snapshot, measure_at, acknowledgement, created_at) VALUES ($1, $2, 'arrived.example', $3, '', 0, '', 0)`,
		o.org, o.arrived.domain.DomainID, strings.ReplaceAll(o.arrived.domain.DomainID, "-", ""))
	must(t, err)
	f := arrivals.File{
		OrgID: o.org, ID: core.NewID(), DomainID: o.arrived.domain.DomainID, Origin: arrivals.Mail, Name: "same.xml", MessageID: "same", Sender: "same@reporter.example",
		Reporter: "reporter.example", Verdicts: &inbound.Verdicts{DMARC: inbound.Gray}, State: arrivals.Held, Problem: "not proven",
		Stored: arrivals.Stored{Key: o.org + "/same/attachments/0", Others: []string{o.org + "/same/raw.eml"}}, Size: 1, DueAt: later(600), ReceivedAt: start, UpdatedAt: start,
	}
	added, err := store.AddFiles(ctx, o.org, []arrivals.File{f})
	must(t, err)
	if len(added) != 1 {
		t.Fatal("the file was not added")
	}
	_, err = store.Decide(ctx, o.org, f.Reporter, arrivals.Rejected, "same", start)
	must(t, err)
	o.arrived.file = f
}

// fileState returns the organization's files and decisions about reporters.
func (o ownedObjects) fileState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"KnownDomains", "CountFiles", "DomainName", "Decisions", "Files", "Reporters", "arrivals.Holder.Held"} {
		found, err := storeCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

// fileCalls returns calls about files with reports. The organization org makes them with the file of
// another organization, o.
func fileCalls(o ownedObjects, org string) map[string]storeCall {
	mine := o.arrived
	stolen := mine.file
	stolen.OrgID, stolen.State = org, arrivals.Read
	return map[string]storeCall{
		"KnownDomains": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().KnownDomains(t.Context(), org, []string{mine.domain.DomainID})
		},
		"KnownFiles": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().KnownFiles(t.Context(), org, []string{mine.file.ID})
		},
		"CountFiles": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().CountFiles(t.Context(), arrivals.Target{OrgID: org, DomainID: mine.domain.DomainID}, start.AddDate(0, 0, -1), 10)
		},
		"arrivals.Queue.PutOff": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().PutOff(t.Context(), stolen, later(1))
		},
		"SaveFile": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().SaveFile(t.Context(), stolen)
		},
		"CountReports": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().CountReports(t.Context(), org, mine.file.ID)
		},
		"DomainName": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().DomainName(t.Context(), org, mine.domain.DomainID)
		},
		"Decisions": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().Decisions(t.Context(), org, []string{mine.file.Reporter})
		},
		"LockDecision": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().LockDecision(t.Context(), org, mine.file.Reporter, later(1))
		},
		"Files": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().Files(t.Context(), org, arrivals.FileFilter{DomainID: mine.domain.DomainID}, nil, 10)
		},
		"Reporters": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().Reporters(t.Context(), org, 10)
		},
		"arrivals.DeskStore.Decide": func(t *testing.T, db *storage.DB) (any, error) {
			_, err := db.ReportArrivals().Decide(t.Context(), org, mine.file.Reporter, arrivals.Accepted, "stolen", later(1))
			return nil, err // the reporter has the same name in another organization
		},
		"ReleaseFiles": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().ReleaseFiles(t.Context(), org, mine.file.Reporter, later(1))
		},
		"DeleteFiles": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().DeleteFiles(t.Context(), org, later(1_000_000), 10)
		},
		"ForgetReporters": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ReportArrivals().ForgetReporters(t.Context(), org, later(1_000_000))
		},
		"arrivals.Holder.Held": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ReportArrivals().Held(t.Context(), org, []string{mine.file.MessageID})
		},
	}
}
