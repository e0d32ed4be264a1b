package domainauth

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
)

// number returns a quotient, nil if it is unknown.
func number(f history.Fraction) *float64 {
	if f.Whole == 0 {
		return nil
	}
	n := float64(f.Part) / float64(f.Whole)
	return &n
}

func whole(n int64) *float64 { return number(history.Fraction{Part: n, Whole: 1}) }

// checkReadiness compares what readiness measures with the truth, and its conclusion with the
// criteria.
func (s *scene) checkReadiness(h *history.History, decisions history.Decisions) domainauth.Readiness {
	s.Helper()
	var got domainauth.Readiness
	s.call("domain_auth_readiness_get", "", &got)
	r := h.Truth.Readiness(s.now, decisions)
	blocked := slices.ContainsFunc(r.Impact, func(i history.Impact) bool { return i.Blocks })
	since := int64(s.now.Sub(h.Truth.Transitions()[0].End) / (24 * time.Hour))
	perDay := number(r.FailingConfirmed)
	want := []domainauth.Criterion{
		{Name: readiness.CoverageDays, Blocking: true, Met: r.CoverageDays >= 14, Value: whole(r.CoverageDays), Threshold: whole(14)},
		{Name: readiness.MessageVolume, Blocking: true, Met: r.Messages >= 1000, Value: whole(r.Messages), Threshold: whole(1000)},
		{Name: readiness.DistinctProviders, Blocking: true, Met: r.Reporters >= 3, Value: whole(r.Reporters), Threshold: whole(3)},
		{Name: readiness.PassRate, Met: r.Messages > 0, Value: number(r.Passed)},
		{Name: readiness.NoUnalignedSending, Blocking: true, Met: r.Unaligned == 0, Value: whole(r.Unaligned), Threshold: whole(0)},
		{Name: readiness.AcceptableImpact, Blocking: true, Met: perDay != nil && *perDay <= 10 && !blocked, Value: perDay, Threshold: whole(10)},
		{Name: readiness.TimeAtCurrentPolicy, Blocking: true, Met: since >= 30, Value: whole(since), Threshold: whole(30)},
		{Name: readiness.NoNewUnknownSources, Blocking: true, Met: r.NewUnknown == 0, Value: whole(r.NewUnknown), Threshold: whole(0)},
	}
	if diff := cmp.Diff(want, got.Criteria); diff != "" {
		s.Errorf("criteria (-truth +got):\n%s", diff)
	}
	var impacts []history.Impact
	for _, i := range got.Impact.Sources {
		key := s.names[i.ID]
		impacts = append(impacts, history.Impact{Key: key, Failing: i.FailingMessages, Relayed: i.RelayBrokenMessages, Blocks: i.Blocks})
		if known := h.Truth.Sources[key]; i.Name != known.Name || i.Classification != known.Classification || i.Decision != figures.Decision(decisions.Of(key)) {
			s.Errorf("impact of %+v, expected %+v", i, known)
		}
	}
	slices.SortStableFunc(impacts, func(a, b history.Impact) int { return int(b.Failing-a.Failing)*2 + compare(a.Key, b.Key) })
	if diff := cmp.Diff(r.Impact, impacts); diff != "" {
		s.Errorf("impact (-truth +got):\n%s", diff)
	}
	measured := domainauth.Impact{
		Completeness: number(history.Fraction{Part: r.CoverageDays, Whole: 30}), AlignmentBreadth: number(r.Breadth),
		FailingMessagesPerDay: number(r.FailingPerDay), Sources: got.Impact.Sources,
	}
	if diff := cmp.Diff(measured, got.Impact); diff != "" {
		s.Errorf("impact (-truth +got):\n%s", diff)
	}
	met := !slices.ContainsFunc(want, func(c domainauth.Criterion) bool { return c.Blocking && !c.Met })
	acknowledged := got.Acknowledgement != nil
	if got.Ready != (met && (r.Relayed == 0 || acknowledged)) || got.ReadyPendingAcknowledgement != (met && r.Relayed > 0 && !acknowledged) || (got.RecordToPublish != nil) != got.Ready {
		s.Errorf("ready is %v, pending is %v, record %v", got.Ready, got.ReadyPendingAcknowledgement, got.RecordToPublish)
	}
	return got
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// decide decides about all sources as the owner would.
func (s *scene) decide(truth *history.Truth) history.Decisions {
	s.Helper()
	decisions := history.Decisions{}
	for id, key := range s.names {
		decision := "confirmed"
		if class := truth.Sources[key].Classification; class == figures.Unknown || class == figures.Spoofing {
			decision = "rejected"
		}
		decisions[key] = decision
		var got domainauth.Source
		s.call("domain_auth_sources_decide", `,"source_id":"`+id+`","decision":"`+decision+`"`, &got)
		if got.ID != id || string(got.Decision) != decision {
			s.Errorf("the decision about %s is %s", key, got.Decision)
		}
	}
	return decisions
}

// acknowledge accepts what the next policy costs, and checks the figures of the acceptance.
func (s *scene) acknowledge(h *history.History, decisions history.Decisions) {
	s.Helper()
	r := h.Truth.Readiness(s.now, decisions)
	var got domainauth.Acknowledgement
	s.call("domain_auth_readiness_acknowledge", `,"target_policy":"reject","note":"We told the club."`, &got)
	var sources int
	for _, i := range r.Impact {
		if i.Relayed > 0 {
			sources++
		}
	}
	day := s.now.Truncate(24 * time.Hour)
	want := domainauth.Acknowledgement{
		AcknowledgedAt: s.now, TargetPolicy: "reject",
		Frozen: domainauth.Cost{
			From: day.AddDate(0, 0, -30), To: day, Messages: r.Relayed, PerDay: number(history.Fraction{Part: r.Relayed, Whole: r.CoverageDays}), Sources: got.Frozen.Sources,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got.Frozen.Sources) != sources {
		text, _ := json.Marshal(got.Frozen.Sources)
		s.Errorf("acknowledgement of %d sources (-truth +got):\n%s%s", sources, diff, text)
	}
}
