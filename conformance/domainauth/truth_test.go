package domainauth

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// noon is the time of the tests.
var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// size returns the size of the histories: two years with MAILHELM_DMARC_HISTORY=full.
func size() history.Size {
	if os.Getenv("MAILHELM_DMARC_HISTORY") == "full" {
		return history.Full
	}
	return history.Small
}

// TestKnownTruth reads a history into a product on each database, in the order of arrival and in
// another one, and compares every figure that its routes return with the truth. Another organization
// has another history of the same domain.
func TestKnownTruth(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		p := startServer(t, postgres, noon)
		h, other := history.New(1, size(), noon), history.New(2, history.Small, noon)
		first, second := newSceneAt(t, p, p.Org, h), newSceneAt(t, p, p.Other, other)
		first.read(h.Files, true)
		second.imported = true
		second.read(other.Shuffled(7), false)
		first.checkAll(h, nil)
		second.checkAll(other, nil)
		first.follow(h)
		second.checkAll(other, nil)
	})
}

// checkAll compares everything.
func (s *scene) checkAll(h *history.History, decisions history.Decisions) {
	s.Helper()
	s.checkTimeseries(&h.Truth)
	s.checkSources(&h.Truth, decisions)
	s.checkPosture(&h.Truth, h.Files, decisions)
	s.checkReadiness(h, decisions)
	s.checkTimeline(h, decisions)
}

// checkPosture compares the posture of the domain.
func (s *scene) checkPosture(truth *history.Truth, files []history.File, decisions history.Decisions) {
	s.Helper()
	var got domainauth.PostureDetail
	s.call("domain_auth_domains_get", "", &got)
	to := s.now.Truncate(24 * time.Hour)
	from := to.AddDate(0, 0, -30)
	total := truth.Total(from, to)
	rate := float64(total.Passing) / float64(total.Messages)
	quarantine, reject, record := "quarantine", "reject", "v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:old@reports.example"
	last := time.Time{}
	counts := domainauth.SourceCounts{}
	for key := range truth.Sources {
		counter := map[string]*int{"confirmed": &counts.Confirmed, "rejected": &counts.Rejected, "": &counts.Unreviewed}[decisions[key]]
		*counter++
	}
	want := domainauth.Posture{
		Domain: history.Domain, Policy: &quarantine, SubdomainPolicy: &quarantine, Record: &record, PassRate: &rate, CoverageDays: len(truth.CoveredDays(from, to)),
		MessageVolume: total.Messages, SourceCounts: counts, NextPolicy: &reject, LastMeasuredAt: &s.now,
	}
	for key := range truth.Sources {
		for _, f := range findings(truth, key) {
			if f.ClosedAt.IsZero() {
				want.OpenFindings++
			}
		}
	}
	for _, f := range files {
		if f.Reports > 0 && f.ArrivedAt.After(last) {
			last = f.ArrivedAt
		}
	}
	if s.imported {
		last = s.now
	}
	want.LastReportAt = &last
	if diff := cmp.Diff(want, got.Posture); diff != "" {
		s.Errorf("posture (-truth +got):\n%s", diff)
	}
}

// period returns members of arguments for a window of days.
func period(from, to time.Time) string {
	return fmt.Sprintf(`,"from":%q,"to":%q`, from.Format(time.RFC3339), to.Format(time.RFC3339))
}

// checkTimeseries compares the figures of all days.
func (s *scene) checkTimeseries(truth *history.Truth) {
	s.Helper()
	to := s.now.Truncate(24*time.Hour).AddDate(0, 0, 1)
	from := to.AddDate(0, 0, -731)
	var got struct{ Data []domainauth.DayOutcomes }
	s.call("domain_auth_timeseries_get", period(from, to), &got)
	var want []domainauth.DayOutcomes
	sums := truth.ByDay("", from, to)
	for _, d := range truth.CoveredDays(from, to) {
		sum := sums[d]
		want = append(want, domainauth.DayOutcomes{
			Date: d.Format(time.DateOnly), Total: sum.Messages, Pass: sum.Passing, SPFOnly: sum.SPFOnly, DKIMOnly: sum.DKIMOnly, Fail: sum.Failing,
			NoneDisposition: sum.None, Quarantined: sum.Quarantined, Rejected: sum.Rejected,
		})
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		s.Errorf("timeseries (-truth +got):\n%s", diff)
	}
}

// sources returns all sources in a window, from pages of a size.
func (s *scene) sources(from, to time.Time, filter string, pageSize int) []domainauth.Source {
	s.Helper()
	var all []domainauth.Source
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var page struct {
			Data       []domainauth.Source
			Pagination struct {
				Total      int     `json:"total"`
				NextCursor *string `json:"next_cursor"`
			}
		}
		s.call("domain_auth_sources_list", `,"limit":`+strconv.Itoa(pageSize)+`,"cursor":`+strconv.Quote(cursor)+period(from, to)+filter, &page)
		all = append(all, page.Data...)
		if cursor = ""; page.Pagination.NextCursor != nil {
			cursor = *page.Pagination.NextCursor
		}
	}
	return all
}

// checkSources compares the sources in several windows: days, parts of months, and everything.
func (s *scene) checkSources(truth *history.Truth, decisions history.Decisions) {
	s.Helper()
	today := s.now.Truncate(24 * time.Hour)
	for _, w := range [][2]time.Time{
		{today.AddDate(0, 0, -731+1), today.AddDate(0, 0, 1)},
		{today.AddDate(0, 0, -30), today},
		{today.AddDate(0, 0, -3), today.AddDate(0, 0, -2)},
		{time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2026, 8, 31, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)},
		{time.Date(2026, 9, 2, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC)},
	} {
		sums := truth.BySource(w[0], w[1])
		got := s.sources(w[0], w[1], "", 4)
		if len(got) != len(sums) {
			s.Errorf("%d sources from %s to %s, expected %d", len(got), w[0], w[1], len(sums))
		}
		for i, g := range got {
			if i > 0 && g.MessageCount > got[i-1].MessageCount {
				s.Errorf("source %s with %d messages follows one with %d", g.Name, g.MessageCount, got[i-1].MessageCount)
			}
			s.names[g.ID] = keyOf(truth, g.Name)
			s.checkSource(truth, g, sums, decisions)
		}
	}
}

func (s *scene) checkSource(truth *history.Truth, got domainauth.Source, sums map[string]*history.Sum, decisions history.Decisions) {
	s.Helper()
	key := keyOf(truth, got.Name)
	known, sum := truth.Sources[key], sums[key]
	if sum == nil {
		s.Errorf("source %q has no messages in truth", got.Name)
		return
	}
	first, last := truth.Seen(key)
	want := domainauth.Source{
		ID: got.ID, Name: known.Name, Classification: known.Classification, Decision: figures.Decision(decisions.Of(key)), MessageCount: sum.Messages,
		AlignedCount: sum.Passing, FailingCount: sum.Failing, SPFPass: sum.SPF, DKIMPass: sum.DKIM, FirstSeenAt: first, LastSeenAt: last, SampleIPs: got.SampleIPs,
	}
	if known.Provider != "" {
		want.Provider = &known.Provider
	}
	if f, open := sources.Foremost(findings(truth, key)); open {
		want.Finding = &domainauth.Finding{Code: f.Code, Detail: f.Detail, OpenedAt: f.OpenedAt}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.Errorf("source (-truth +got):\n%s", diff)
	}
	for _, ip := range got.SampleIPs {
		if !truth.Addresses[key][netip.MustParseAddr(ip)] {
			s.Errorf("source %s has the address %s, which is another one's", got.Name, ip)
		}
	}
	if n := min(5, len(truth.Addresses[key])); len(got.SampleIPs) != n || slices.Contains(got.SampleIPs, "") {
		s.Errorf("source %s has the addresses %s, expected %d", got.Name, strings.Join(got.SampleIPs, " "), n)
	}
}

// findings returns the findings about a source.
func findings(truth *history.Truth, key string) []sources.Finding {
	var days []sources.Day
	at := map[time.Time]int{}
	for i, d := range truth.CountingDays() {
		at[d] = i
		days = append(days, sources.Day{Date: d})
	}
	for o, n := range truth.Messages {
		if o.Source != key {
			continue
		}
		d := &days[at[o.Day]]
		d.Messages += n
		if o.Passed() {
			d.Passing += n
		}
		if o.SPF {
			d.SPFAligned += n
		}
		if o.DKIM {
			d.DKIMAligned += n
		}
	}
	source := truth.Sources[key]
	return sources.Findings(sources.Identity{Key: key, Name: source.Name, Provider: source.Provider, Classification: source.Classification}, days)
}

// keyOf returns the key of the source with a name.
func keyOf(truth *history.Truth, name string) string {
	for key, source := range truth.Sources {
		if source.Name == name {
			return key
		}
	}
	return ""
}
