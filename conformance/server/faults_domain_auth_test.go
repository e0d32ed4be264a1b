package server

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// reportedEvent is the id of a note about the domain ROUND.reported.example.com, which has reports.
const reportedEvent = "01900000-0000-7000-8000-00000000000a"

// callsOfDomainAuth are the entries of [listed] about domain authentication. SOURCE stands for the
// id of a source of the domain.
var callsOfDomainAuth = []call{
	{"domain_auth_domains_get", "GET", "/v1/domain-auth/domains/ROUND.reported.example.com", "", untouched},
	{"domain_auth_sources_list", "GET", "/v1/domain-auth/domains/ROUND.reported.example.com/sources", "", untouched},
	{"domain_auth_sources_decide", "PATCH", "/v1/domain-auth/domains/ROUND.reported.example.com/sources/SOURCE", `{"decision":"confirmed"}`, untouched},
	{"domain_auth_readiness_get", "GET", "/v1/domain-auth/domains/ROUND.reported.example.com/readiness", "", untouched},
	{"domain_auth_readiness_acknowledge", "POST", "/v1/domain-auth/domains/ROUND.reported.example.com/readiness/acknowledge", `{"target_policy":"quarantine"}`, untouched},
	{"domain_auth_domains_remeasure", "POST", "/v1/domain-auth/domains/ROUND.reported.example.com/remeasure", "", untouched},
	{"domain_auth_timeseries_get", "GET", "/v1/domain-auth/domains/ROUND.reported.example.com/timeseries", "", untouched},
	{"domain_auth_timeline_list", "GET", "/v1/domain-auth/domains/ROUND.reported.example.com/timeline", "", untouched},
	{"domain_auth_comparison_get", "GET", "/v1/domain-auth/domains/ROUND.reported.example.com/timeline/" + reportedEvent + "/comparison", "", untouched},
	{"domain_auth_notes_create", "POST", "/v1/domain-auth/domains/ROUND.reported.example.com/timeline/notes", `{"note":"ROUND"}`, untouched},
}

// makeReported stores the domain with reports that the calls of the test round s.round read and
// change, and a note about it.
func (s *faultScene) makeReported(t *testing.T) {
	t.Helper()
	now := s.p.Clock.Now()
	ready := domainauthtest.Ready(t, s.p.DB, s.p.OrgID, s.round+".reported.example.com", now)
	s.source = ready.Own
	err := s.p.DB.DomainAuth().InsertEvent(t.Context(), s.p.OrgID, ready.ID, domainauth.Event{
		ID: reportedEvent, Kind: timeline.Note, OccurredAt: now.AddDate(0, 0, -5), ObservedAt: now, Title: "Note",
	}, "")
	if err != nil {
		t.Fatal(err)
	}
}
