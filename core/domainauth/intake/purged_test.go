package intake_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// beforehand calls a function before its third transaction.
type beforehand struct {
	core.Transactor
	calls int
	do    func()
}

func (b *beforehand) InTx(ctx context.Context, f func(context.Context) error) error {
	if b.calls++; b.calls == 3 {
		b.do()
	}
	return b.Transactor.InTx(ctx, f)
}

// TestPurgeWhileALargeReportIsRead deletes the sources of a large report, which do not count yet,
// while it is read. One of them is stored again for another report. All figures must belong to
// sources that exist.
func TestPurgeWhileALargeReportIsRead(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := setup(t, db)
		last := &beforehand{Transactor: db, do: func() {
			limits := measuring.Limits{Rows: figures.AddDays(now, -89), Figures: figures.AddDays(now, -730)}
			if _, err := db.DomainMeasuring().PurgeDomain(t.Context(), org, w.domain.ID, limits, now, 2000); err != nil {
				t.Error(err)
			}
			w.read(t, about(domain, "receiver.example", "small", 3, record("198.51.100.7", 1000, "none", false, false)))
		}}
		reader := newReader(db, db.DMARCReports())
		reader.Transactor = last
		if got, err := reader.Read(t.Context(), intake.Target{OrgID: org, Addressed: domain, ReceivedAt: now}, large("1").open); err != nil || got.Messages != 5000 {
			t.Fatalf("%+v, %v", got, err)
		}
		registered, err := db.DomainAuth().Registry(t.Context(), org, w.domain.ID)
		if err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, s := range registered {
			known[s.ID] = true
		}
		rows, err := db.DomainAuth().Rows(t.Context(), org, w.domain.ID, all)
		if err != nil || len(rows) == 0 {
			t.Fatal(rows, err)
		}
		sum, lost := int64(0), int64(0)
		for _, r := range rows {
			if sum += r.Messages; !known[r.Source] {
				lost += r.Messages
			}
		}
		if sum != 6000 || lost != 0 || last.calls < 3 {
			t.Errorf("%d messages, %d of them of sources that do not exist", sum, lost)
		}
	})
}
