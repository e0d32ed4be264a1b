package whole

import (
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// The kinds of objects of domain authentication.
var (
	reportedDomain = kind{"domain with DMARC reports", func(t *testing.T, w world, n int) string {
		return w.foreignReported(t, n).Domain
	}, func(n int) string { return fmt.Sprintf("absent-%03d.example", n) }}
	reportSource = kind{"source of DMARC reports", func(t *testing.T, w world, n int) string {
		d := w.foreignReported(t, n)
		s := intake.Source{
			DomainID: d.ID, ID: core.NewID(), Key: "own", Name: "Own mail", Classification: figures.Own,
			First: figures.DayOf(w.p.Clock.Now()), Last: figures.DayOf(w.p.Clock.Now()),
		}
		w.must(t, w.p.DB.DMARCReports().SaveSources(t.Context(), w.p.Other.OrgID, []intake.Source{s}))
		return s.ID
	}, func(int) string { return core.NewID() }}
	domainEvent = kind{"event of a domain", func(t *testing.T, w world, n int) string {
		d, now := w.foreignReported(t, n), w.p.Clock.Now()
		e := domainauth.Event{ID: core.NewID(), Kind: timeline.Note, OccurredAt: now, ObservedAt: now, Title: "Note"}
		w.must(t, w.p.DB.DomainAuth().InsertEvent(t.Context(), w.p.Other.OrgID, d.ID, e, ""))
		return e.ID
	}, func(int) string { return core.NewID() }}
)

// foreignReported adds a domain to the other organization.
func (w world) foreignReported(t *testing.T, n int) domainauth.Domain {
	t.Helper()
	store, name := w.p.DB.DomainAuth(), fmt.Sprintf("reported-%03d.example", n)
	w.must(t, store.AddDomain(t.Context(), w.p.Other.OrgID, name, w.p.Clock.Now()))
	d, err := store.Domain(t.Context(), w.p.Other.OrgID, name)
	w.must(t, err)
	return d
}
