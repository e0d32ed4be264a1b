package domainauth

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/comparison"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
)

// events returns the events of kinds, the newest first, from pages of two.
func (s *scene) events(kind timeline.Kind) []domainauth.Event {
	s.Helper()
	var all []domainauth.Event
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var page struct {
			Data       []domainauth.Event
			Pagination struct {
				NextCursor *string `json:"next_cursor"`
			}
		}
		s.call("domain_auth_timeline_list", fmt.Sprintf(`,"kind":%q,"limit":2,"cursor":%q`, kind, cursor), &page)
		all = append(all, page.Data...)
		if cursor = ""; page.Pagination.NextCursor != nil {
			cursor = *page.Pagination.NextCursor
		}
	}
	return all
}

// checkTimeline compares the event of the policy change that reports show, and the figures around
// it, with the truth.
func (s *scene) checkTimeline(h *history.History, decisions history.Decisions) {
	s.Helper()
	all := s.events(timeline.PolicyChange)
	if len(all) == 0 {
		s.Fatal("there is no policy change")
	}
	oldest := all[len(all)-1]
	var seen []history.Stated
	for _, stated := range h.Truth.Transitions() {
		if stated.Policy == "quarantine" {
			seen = append(seen, stated)
		}
	}
	before, after := policyText("none"), policyText("quarantine")
	want := domainauth.Event{
		ID: oldest.ID, Kind: timeline.PolicyChange, Origin: timeline.Reports, OccurredAt: seen[0].End, ObservedAt: s.now, Sightings: len(seen),
		OldRecord: &before, NewRecord: &after, Title: oldest.Title,
	}
	for _, stated := range seen {
		if at := h.Observed(stated); !s.imported && at.Before(want.ObservedAt) {
			want.ObservedAt = at
		}
	}
	if diff := cmp.Diff(want, oldest); diff != "" {
		s.Errorf("event (-truth +got):\n%s", diff)
	}
	for _, days := range []int{7, 14, 30} {
		s.checkComparison(h, oldest, days, decisions)
	}
}

// policyText returns the record that reports state.
func policyText(policy string) string {
	return "v=DMARC1; p=" + policy + "; sp=" + policy + "; adkim=r; aspf=r"
}

// checkComparison compares the figures around an event with the truth. No other change is near.
func (s *scene) checkComparison(h *history.History, e domainauth.Event, days int, decisions history.Decisions) {
	s.Helper()
	var got domainauth.Comparison
	s.call("domain_auth_comparison_get", fmt.Sprintf(`,"annotation_id":%q,"window_days":%d`, e.ID, days), &got)
	before, after := h.Truth.Compare(e.OccurredAt, days, decisions)
	want := domainauth.Comparison{AnnotationID: e.ID, Before: sideOf(before), After: sideOf(after), Neighbours: []domainauth.Event{}, Truncations: []domainauth.Truncation{}}
	for _, side := range []history.Side{before, after} {
		for i, d := range side.Cut {
			if i > 0 && d.Equal(side.Cut[i-1].AddDate(0, 0, 1)) {
				last := &want.Truncations[len(want.Truncations)-1]
				last.To, last.Days = d.AddDate(0, 0, 1), last.Days+1
				continue
			}
			want.Truncations = append(want.Truncations, domainauth.Truncation{Reason: comparison.NoReports, From: d, To: d.AddDate(0, 0, 1), Days: 1})
		}
	}
	perDay := func(n int64, side history.Side) float64 { return float64(n) / float64(side.Days) }
	want.Delta = &domainauth.Delta{
		PassRate:       *want.After.PassRate - *want.Before.PassRate,
		FailingPerDay:  perDay(after.Sum.Failing, after) - perDay(before.Sum.Failing, before),
		MessagesPerDay: perDay(after.Sum.Messages, after) - perDay(before.Sum.Messages, before),
	}
	// The product rounds differences once.
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		s.Errorf("comparison of %d days (-truth +got):\n%s", days, diff)
	}
}

func sideOf(side history.Side) domainauth.Side {
	s := domainauth.Side{
		From: side.From, To: side.To, Days: side.Days, Total: side.Sum.Messages, Failing: side.Sum.Failing,
		PassRate: number(history.Fraction{Part: side.Sum.Passing, Whole: side.Sum.Messages}), Groups: []domainauth.Group{},
	}
	for g, sum := range side.Groups {
		s.Groups = append(s.Groups, domainauth.Group{Classification: figures.Classification(g.Classification), Decision: figures.Decision(g.Decision), Total: sum.Messages, Failing: sum.Failing})
	}
	slices.SortFunc(s.Groups, func(a, b domainauth.Group) int {
		if a.Decision != b.Decision {
			return compare(string(a.Decision), string(b.Decision))
		}
		return compare(string(a.Classification), string(b.Classification))
	})
	return s
}

// follow decides about all sources, accepts the cost of the next policy, publishes it and another
// SPF record, and reads the reports of the following day.
func (s *scene) follow(h *history.History) {
	s.Helper()
	decisions := s.decide(&h.Truth)
	s.checkAll(h, decisions)
	if !s.checkReadiness(h, decisions).ReadyPendingAcknowledgement {
		s.Error("the cost is not to be acknowledged")
	}
	s.acknowledge(h, decisions)
	ready := s.checkReadiness(h, decisions)
	if !ready.Ready {
		s.Fatal("the domain is not ready")
	}
	if n := len(s.events(timeline.SourceDecisions)); n != len(decisions) || len(s.events(timeline.Acknowledgement)) != 1 {
		s.Errorf("%d decisions are in the timeline, expected %d", n, len(decisions))
	}
	s.publish(h, *ready.RecordToPublish)
}

// publish changes the DMARC record and the SPF record, reads the reports of the following day, and
// checks the events of both changes.
func (s *scene) publish(h *history.History, record string) {
	s.Helper()
	before, oldRecord, oldSPF := s.now, s.zone["_dmarc."+history.Domain][0], s.zone[history.Domain][0]
	newSPF := strings.Replace(oldSPF, " -all", " include:servers.mcsv.net -all", 1)
	s.zone["_dmarc."+history.Domain], s.zone[history.Domain] = []string{record}, []string{newSPF}
	s.now = s.now.Add(2 * time.Hour)
	polled := s.now
	s.poll()
	s.now, s.imported = s.now.AddDate(0, 0, 1), true
	s.read(h.Following("reject"), true)
	s.checkTimeseries(&h.Truth)

	policy, setup := s.events(timeline.PolicyChange), s.events(timeline.SetupChange)
	if len(policy) != 2 || len(setup) != 1 {
		s.Fatalf("%d changes of the policy and %d of SPF", len(policy), len(setup))
	}
	sightings := 1
	for _, stated := range h.Truth.Transitions() {
		if stated.Policy == "reject" {
			sightings++
		}
	}
	if sightings < 4 {
		s.Errorf("%d sightings", sightings)
	}
	// A report about the morning has the new policy, which the poll at noon did not find.
	wantPolicy := domainauth.Event{
		ID: policy[0].ID, Kind: timeline.PolicyChange, Origin: timeline.DNS, OccurredAt: before, ObservedAt: polled, Sightings: sightings,
		OldRecord: &oldRecord, NewRecord: &record, Title: policy[0].Title,
	}
	wantSetup := domainauth.Event{
		ID: setup[0].ID, Kind: timeline.SetupChange, Origin: timeline.DNS, OccurredAt: polled, ObservedAt: polled, Sightings: 1,
		OldRecord: &oldSPF, NewRecord: &newSPF, Title: setup[0].Title,
	}
	if diff := cmp.Diff([]domainauth.Event{wantPolicy, wantSetup}, []domainauth.Event{policy[0], setup[0]}); diff != "" {
		s.Errorf("events (-truth +got):\n%s", diff)
	}
	var c domainauth.Comparison
	s.call("domain_auth_comparison_get", fmt.Sprintf(`,"annotation_id":%q`, policy[0].ID), &c)
	if c.Delta != nil || *c.NoDeltaReason != string(comparison.AttributionDeclined) || !c.AfterIncomplete || !c.AttributionDeclined || len(c.Neighbours) != 1 || c.Neighbours[0].ID != setup[0].ID {
		s.Errorf("comparison %+v", c)
	}
}
