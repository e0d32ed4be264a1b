package rest_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/rest/docs/reference/examples"
)

// domainWithoutReports is a domain for which there is nothing to acknowledge.
const domainWithoutReports = "quiet.example.com"

// addDomainAuth stores the reports, the source and the event that the examples name.
func (d *documentedCalls) addDomainAuth(t *testing.T) {
	t.Helper()
	now := d.Clock.Now()
	ready := domainauthtest.Ready(t, d.DB, d.OrgID, "example.com", now)
	d.ids[examples.SourceID], d.ids[examples.EventID] = ready.Own, examples.EventID
	note := "The newsletter moved to another service."
	err := d.DB.DomainAuth().InsertEvent(t.Context(), d.OrgID, ready.ID, domainauth.Event{
		ID: examples.EventID, Kind: timeline.Note, OccurredAt: now.AddDate(0, 0, -10), ObservedAt: now, Title: "Note", Note: &note,
	}, "someone")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.DB.DomainAuth().AddDomain(t.Context(), d.OrgID, domainWithoutReports, now); err != nil {
		t.Fatal(err)
	}
}
