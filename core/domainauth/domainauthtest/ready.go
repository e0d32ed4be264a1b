// Package domainauthtest gives tests a domain with DMARC reports on a real database. It is for
// tests only.
package domainauthtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/compose"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/storage"
)

// Days is the number of days that the reports of [Ready] cover, the last of which is yesterday.
const Days = 20

// Record is the DMARC record of the domain of [Ready].
const Record = "v=DMARC1; p=none; rua=mailto:dmarc@example.com"

// Domain is a domain of [Ready].
type Domain struct {
	ID string
	// Own and Forwarder are the ids of its sources.
	Own, Forwarder string
}

// Ready adds a domain with the policy none to an organization. Three reporters report about 20
// days, 300 messages of its own server a day that pass, and 3 that a mailing list broke. Both
// sources are confirmed, so the domain is ready for quarantine once a person acknowledges that
// the messages of the mailing list are lost.
func Ready(t testing.TB, db *storage.DB, orgID, name string, now time.Time) Domain {
	t.Helper()
	store, ctx := db.DomainAuth(), t.Context()
	must(t, store.AddDomain(ctx, orgID, name, now))
	d, err := store.Domain(ctx, orgID, name)
	must(t, err)
	publish(t, db, orgID, d, now)
	batch := intake.New(intake.Config{Store: db.DMARCReports(), Transactor: db, Clock: func() time.Time { return now }}).Batch()
	for ago := 1; ago <= Days; ago++ {
		for _, reporter := range []string{"mail.example.org", "reports.example.net", "postmaster.example"} {
			content := reportOf(t, name, reporter, figures.AddDays(now, -ago))
			open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
			_, err := batch.Add(ctx, intake.Target{OrgID: orgID, Addressed: name, ReceivedAt: now}, open)
			must(t, err)
		}
	}
	must(t, batch.Flush(ctx))
	ready := Domain{ID: d.ID}
	registered, err := store.Registry(ctx, orgID, d.ID)
	must(t, err)
	for _, s := range registered {
		must(t, store.Decide(ctx, orgID, d.ID, s.ID, figures.Confirmed, "test", now))
		if s.Classification == figures.Forwarder {
			ready.Forwarder = s.ID
		} else {
			ready.Own = s.ID
		}
	}
	return ready
}

// publish stores that a poll found the record.
func publish(t testing.TB, db *storage.DB, orgID string, d domainauth.Domain, now time.Time) {
	t.Helper()
	subject, record := "_dmarc."+d.Domain, Record
	found, err := dmarc.Discover(t.Context(), Zone{subject: record}, d.Domain)
	must(t, err)
	_, err = db.DomainMeasuring().SavePoll(t.Context(), orgID, d.ID, measuring.Poll{
		Lease: now, Next: now.Add(time.Hour),
		Snapshot: lookup.Snapshot{
			At: now, LookedAt: now, Discovery: found,
			Records: []lookup.Record{{Name: subject, Kind: timeline.PolicyChange, Text: &record, Fresh: true}},
		},
	})
	must(t, err)
}

// reportOf returns a report about one day.
func reportOf(t testing.TB, domain, reporter string, day time.Time) []byte {
	t.Helper()
	about := report.Report{
		Org: reporter, Email: "dmarc@" + reporter, ID: fmt.Sprint(day.Unix()), Begin: day, End: day.Add(24*time.Hour - time.Second),
		Policy: report.Policy{Domain: domain, P: "none", SP: "none"},
	}
	own := report.Record{
		SourceIP: netip.MustParseAddr("192.0.2.1"), Count: 100, Disposition: "none", DKIM: true, SPF: true, HeaderFrom: domain, EnvelopeFrom: domain,
		Signatures: []report.Signature{{Domain: domain, Selector: "s1", Result: "pass"}}, SPFResults: []report.SPFResult{{Domain: domain, Scope: "mfrom", Result: "pass"}},
	}
	forwarded := report.Record{
		SourceIP: netip.MustParseAddr("203.0.113.5"), Count: 1, Disposition: "none", HeaderFrom: domain, EnvelopeFrom: "lists.example.net",
		Reasons: []report.Reason{{Type: "mailing_list"}}, SPFResults: []report.SPFResult{{Domain: "lists.example.net", Scope: "mfrom", Result: "pass"}},
	}
	var b bytes.Buffer
	must(t, compose.Write(&b, compose.RFC9990, about, slices.Values([]report.Record{own, forwarded})))
	return b.Bytes()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Zone has the TXT records of names. It answers as DNS does, without a network.
type Zone map[string]string

// TXT returns the record of a name, if it has one.
func (z Zone) TXT(_ context.Context, name string) ([]string, error) {
	if z[name] == "" {
		return nil, nil
	}
	return []string{z[name]}, nil
}

// Exists reports whether the name has a record.
func (z Zone) Exists(_ context.Context, name string) (bool, error) { return z[name] != "", nil }
