package domainauth

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demoreports"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// guide is the file of the guide "From none to reject".
var guide = filepath.Join("..", "..", "rest", "docs", "guides", "none-to-reject.md")

// TestGoldenGuideFigures seeds the demo's reports, decides about the sources that are left as the
// guide "From none to reject" says, and compares the figures with those in the guide.
func TestGoldenGuideFigures(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	s := newSceneOf(t, db, demoreports.Domain, noon)
	s.must(db.Channels().Mirror(t.Context(), s.org, channels.Seen{
		Sync:       channels.Sync{Account: s.org, Region: "eu-central-1", At: noon},
		Identities: []sending.Identity{{Identity: demoreports.Domain, Verification: sending.Success, DKIMTokens: []string{"k3token"}}},
	}))
	seeder := demoreports.Seeder{
		DB: db, OrgID: s.org, UserID: core.NewID(), Clock: func() time.Time { return noon },
	}
	s.must(seeder.Ensure(t.Context()))
	blocks := []string{s.sourcesOfGuide(), s.conditionsOfGuide(), s.comparisonOfGuide()}
	s.decideOfGuide(figures.Confirmed)
	if r := s.readinessNow(); r.Ready || r.ReadyPendingAcknowledgement || !unmet(r, "no_unaligned_sending") {
		t.Errorf("with a shop that is confirmed and not repaired: %+v", r)
	}
	s.decideOfGuide(figures.Rejected)
	r := s.readinessNow()
	if !r.ReadyPendingAcknowledgement {
		t.Errorf("after all decisions: %+v", r)
	}
	var cost strings.Builder
	fmt.Fprintf(&cost, "%-31s%s\n", "source", "broken by forwarding in 30 days")
	for _, source := range r.Impact.Sources {
		if source.RelayBrokenMessages > 0 {
			fmt.Fprintf(&cost, "%-31s%31d\n", source.Name, source.RelayBrokenMessages)
		}
	}
	var accepted domainauth.Acknowledgement
	s.call("domain_auth_readiness_acknowledge", `,"target_policy":"reject"`, &accepted)
	r = s.readinessNow()
	if !r.Ready || r.RecordToPublish == nil {
		t.Fatalf("after the acknowledgement: %+v", r)
	}
	s.compareGuide(append(blocks, cost.String(), *r.RecordToPublish+"\n"))
}

// compareGuide compares the blocks of figures in the guide.
func (s *scene) compareGuide(want []string) {
	s.Helper()
	text, err := os.ReadFile(guide)
	s.must(err)
	parts := strings.Split(string(text), "```")
	n := 0
	for i := 1; i < len(parts); i += 2 {
		if block, isText := strings.CutPrefix(parts[i], "text\n"); isText && n < len(want) {
			if block != want[n] && !*update {
				s.Errorf("figures %d of the guide (-guide +demo):\n%s", n+1, cmp.Diff(strings.Split(block, "\n"), strings.Split(want[n], "\n")))
			}
			parts[i], n = "text\n"+want[n], n+1
		}
	}
	if n != len(want) {
		s.Errorf("the guide has %d blocks of figures, expected %d", n, len(want))
	}
	if *update {
		s.must(goldentest.Write(guide, []byte(strings.Join(parts, "```")), 0o600))
	}
}

// sourcesOfGuide returns the sources of the 30 days before today.
func (s *scene) sourcesOfGuide() string {
	s.Helper()
	var page core.Envelope[domainauth.Source]
	s.call("domain_auth_sources_list", "", &page)
	var b strings.Builder
	fmt.Fprintf(&b, "%-35s%-12s%8s  %6s  %s\n", "source", "kind", "messages", "failed", "decision")
	for _, source := range page.Data {
		fmt.Fprintf(&b, "%-35s%-12s%8d  %6d  %s\n", source.Name, source.Classification, source.MessageCount, source.FailingCount, source.Decision)
	}
	return b.String()
}

// decideOfGuide decides about the sources, and about the web shop as given.
func (s *scene) decideOfGuide(shop figures.Decision) {
	s.Helper()
	var page core.Envelope[domainauth.Source]
	s.call("domain_auth_sources_list", "", &page)
	for _, source := range page.Data {
		decision := figures.Confirmed
		switch source.Classification {
		case figures.Spoofing:
			decision = figures.Rejected
		case figures.Unknown:
			decision = shop
		case figures.Forwarder:
			continue
		}
		var decided domainauth.Source
		s.call("domain_auth_sources_decide", `,"source_id":"`+source.ID+`","decision":"`+string(decision)+`"`, &decided)
	}
}

func (s *scene) readinessNow() domainauth.Readiness {
	s.Helper()
	var r domainauth.Readiness
	s.call("domain_auth_readiness_get", "", &r)
	return r
}

// unmet reports whether a criterion is the only blocking one that is not met.
func unmet(r domainauth.Readiness, name string) bool {
	found := ""
	for _, c := range r.Criteria {
		if c.Blocking && !c.Met {
			found += string(c.Name)
		}
	}
	return found == name
}

// conditionsOfGuide returns the conditions of the next policy. The guide has the words of the
// page for their names.
func (s *scene) conditionsOfGuide() string {
	s.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%-49s%8s  %-13s  %s\n", "condition", "measured", "needed", "state")
	for _, c := range s.readinessNow().Criteria {
		line, known := conditionLines[string(c.Name)]
		if !known {
			s.Errorf("the guide does not have the criterion %s", c.Name)
			continue
		}
		state, value, needed := "not met", fmt.Sprintf("%.0f", *c.Value), ""
		if c.Met {
			state = "met"
		}
		if c.Threshold != nil {
			needed = fmt.Sprintf("%s %.0f", line.least, *c.Threshold)
		} else {
			value, state = fmt.Sprintf("%.1f %%", 100**c.Value), "for information"
		}
		fmt.Fprintf(&b, "%-49s%8s  %-13s  %s\n", line.name, value, needed, state)
	}
	return b.String()
}

// conditionLines has the names of criteria, and whether the threshold is the least or the most.
var conditionLines = map[string]struct{ name, least string }{
	"coverage_days":          {"days with reports", "at least"},
	"message_volume":         {"messages", "at least"},
	"distinct_providers":     {"receivers that report", "at least"},
	"pass_rate":              {"messages that passed", ""},
	"no_unaligned_sending":   {"senders of yours whose mail always fails", "at most"},
	"acceptable_impact":      {"failing messages of confirmed senders a day", "at most"},
	"time_at_current_policy": {"days with the present policy", "at least"},
	"no_new_unknown_sources": {"new unknown sources without a decision", "at most"},
}

// comparisonOfGuide returns the figures before and after the change of the policy.
func (s *scene) comparisonOfGuide() string {
	s.Helper()
	var events core.Envelope[domainauth.Event]
	s.call("domain_auth_timeline_list", `,"kind":"policy_change"`, &events)
	if len(events.Data) != 1 {
		s.Fatalf("the policy changed %d times", len(events.Data))
	}
	var c domainauth.Comparison
	s.call("domain_auth_comparison_get", `,"annotation_id":"`+events.Data[0].ID+`"`, &c)
	if c.Delta == nil || c.Before.PassRate == nil || c.After.PassRate == nil {
		s.Fatalf("the comparison has no difference: %+v", c)
	}
	var b strings.Builder
	line := func(name, before, after string) { fmt.Fprintf(&b, "%-31s%10s%10s\n", name, before, after) }
	line("14 days", "before", "after")
	line("messages", fmt.Sprint(c.Before.Total), fmt.Sprint(c.After.Total))
	line("passed", fmt.Sprintf("%.1f %%", 100**c.Before.PassRate), fmt.Sprintf("%.1f %%", 100**c.After.PassRate))
	line("failing", fmt.Sprint(c.Before.Failing), fmt.Sprint(c.After.Failing))
	for _, kind := range []figures.Classification{figures.Own, figures.Authorised, figures.Unknown, figures.Forwarder, figures.Spoofing} {
		line("failing of kind "+string(kind), fmt.Sprint(failingOf(c.Before, kind)), fmt.Sprint(failingOf(c.After, kind)))
	}
	return b.String()
}

func failingOf(side domainauth.Side, kind figures.Classification) int64 {
	var n int64
	for _, g := range side.Groups {
		if g.Classification == kind {
			n += g.Failing
		}
	}
	return n
}
