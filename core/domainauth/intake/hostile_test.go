package intake_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// measured is a store that remembers the largest portion of records, in bytes.
type measured struct {
	intake.Store
	largest int
}

func (m *measured) AddRows(ctx context.Context, orgID string, rows []intake.Row) error {
	size := 0
	for _, r := range rows {
		size += len(r.Details) + len(r.HeaderFrom) + len(r.EnvelopeFrom)
	}
	m.largest = max(m.largest, size)
	return m.Store.AddRows(ctx, orgID, rows)
}

// TestLongRecordsAreStoredInSmallPortions reads few records with as much text as a record can have.
// The texts of a portion are in memory at once.
func TestLongRecordsAreStoredInSmallPortions(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	w := setup(t, db)
	s := &measured{Store: db.DMARCReports()}
	w.reader = newReader(db, s)
	long := record("192.0.2.1", 1, "none", false, false)
	for range 100 {
		long.Signatures = append(long.Signatures, report.Signature{Domain: "x.example", Selector: strings.Repeat("s", 1000), Result: "fail"})
	}
	var of []written
	for i := range 4 { // one report is larger than a portion, the others are so together
		of = append(of, about(domain, "receiver.example", fmt.Sprint(i), 3))
	}
	for range 45 {
		of[0].records = append(of[0].records, long)
	}
	for i := range 45 {
		of[1+i%3].records = append(of[1+i%3].records, long)
	}
	batch := w.reader.Batch()
	for _, one := range of {
		if _, err := batch.Add(t.Context(), intake.Target{OrgID: org, Addressed: domain, ReceivedAt: now}, one.open); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows, err := db.DMARCReports().CountRows(t.Context(), org, w.domain.ID); err != nil || rows != 90 {
		t.Errorf("%d records, %v", rows, err)
	}
	if s.largest < 1<<20 || s.largest > 5<<20 {
		t.Errorf("a portion has %d bytes of text", s.largest)
	}
}

// TestReportsWithTooManySources reads a report of which each record names another network. The
// messages of those beyond the limit count for one source of each classification.
func TestReportsWithTooManySources(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := setup(t, db)
		w.reader = intake.New(intake.Config{Store: db.DMARCReports(), Transactor: db, Clock: func() time.Time { return now }, MaxSources: 20, Portion: 7})
		var records []report.Record
		for i := range 60 {
			records = append(records, record(fmt.Sprintf("198.51.%d.7", i), 1+uint64(i), "none", false, false))
		}
		of := about(domain, "receiver.example", "1", 3, records...)
		if got := w.read(t, of); got.Records != 60 || got.Messages != 60*61/2 {
			t.Fatalf("%+v", got)
		}
		registered, err := db.DomainAuth().Registry(t.Context(), org, w.domain.ID)
		if err != nil || len(registered) != 21 {
			t.Errorf("%d sources, want 20 and one for the others: %v", len(registered), err)
		}
		if text := w.figuresOf(t); !strings.Contains(text, "Other senders (unknown)") {
			t.Errorf("the others are missing in %s", text)
		}
		rows, err := db.DomainAuth().Rows(t.Context(), org, w.domain.ID, all)
		sum := int64(0)
		for _, r := range rows {
			sum += r.Messages
		}
		if err != nil || sum != 60*61/2 {
			t.Errorf("%d messages: %v", sum, err)
		}
	})
}

// TestReverseNamesTakeALimitedTime reads a report about addresses whose name servers do not answer.
func TestReverseNamesTakeALimitedTime(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	w := setup(t, db)
	clock, asked := now, 0
	w.reader = intake.New(intake.Config{
		Store: db.DMARCReports(), Transactor: db, Clock: func() time.Time { return clock }, Portion: 1,
		ReverseNames: func(context.Context, []netip.Addr) map[netip.Addr]string {
			asked++
			clock = clock.Add(50 * time.Second)
			return nil
		},
	})
	for file := range 2 {
		var records []report.Record
		for i := range 30 {
			records = append(records, record(fmt.Sprintf("198.51.%d.7", i), 1, "none", false, false))
		}
		asked = 0
		if got := w.read(t, about(domain, "receiver.example", fmt.Sprint(file), 3, records...)); got.Records != 30 || asked != 3 {
			t.Errorf("file %d: %+v; names were asked for %d times", file, got, asked)
		}
	}
}
