package sources_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"pgregory.net/rapid"
)

var firstDay = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// days returns one Day for each entry, on consecutive days from firstDay.
func days(figures ...sources.Day) []sources.Day {
	for i := range figures {
		figures[i].Date = firstDay.AddDate(0, 0, i)
	}
	return figures
}

// day returns a day with messages, of which some are aligned by both mechanisms.
func day(messages, passing int64) sources.Day {
	return sources.Day{Messages: messages, Passing: passing, SPFAligned: passing, DKIMAligned: passing}
}

func repeat(n int, d sources.Day) []sources.Day {
	var list []sources.Day
	for range n {
		list = append(list, d)
	}
	return list
}

// spans returns findings as "code from-to", with days counted from firstDay.
func spans(findings []sources.Finding) []string {
	var list []string
	for _, f := range findings {
		text := string(f.Code) + " " + dayNumber(f.OpenedAt) + "-"
		if !f.ClosedAt.IsZero() {
			text += dayNumber(f.ClosedAt)
		}
		list = append(list, text)
	}
	return list
}

func dayNumber(date time.Time) string {
	return strconv.Itoa(int(date.Sub(firstDay) / (24 * time.Hour)))
}

func TestFindings(t *testing.T) {
	t.Parallel()
	google := sources.Identity{Name: "Google Workspace", Classification: sources.Authorised}
	stranger := sources.Identity{Name: "acme.example", Classification: sources.Unknown}
	spoofer := sources.Identity{Name: "192.0.2.0/24", Classification: sources.Spoofing}
	relay := sources.Identity{Name: "Forwarded by Mimecast", Classification: sources.Forwarder}
	dkimOnly := sources.Day{Messages: 10, Passing: 10, DKIMAligned: 10}
	for name, tc := range map[string]struct {
		source sources.Identity
		days   []sources.Day
		want   []string
	}{
		"nothing":                        {google, nil, nil},
		"all is well":                    {google, repeat(60, day(50, 50)), nil},
		"too few messages for a share":   {google, repeat(3, sources.Day{Messages: 6}), nil},
		"failing opens at 100 in a week": {stranger, repeat(8, day(20, 0)), []string{"failing_volume 4-"}},
		"99 in a week are not enough":    {stranger, append(repeat(1, day(15, 0)), repeat(20, day(14, 0))...), nil},
		"a week later most are gone": {
			stranger, append(repeat(5, day(20, 0)), repeat(10, day(0, 0))...), []string{"failing_volume 4-11"},
		},
		"it opens again": {
			spoofer, append(append(repeat(1, day(100, 0)), repeat(8, day(0, 0))...), day(200, 0)), []string{"failing_volume 0-7", "failing_volume 9-"},
		},
		"forwarders have no findings about alignment": {relay, repeat(9, day(30, 10)), []string{"failing_volume 4-"}},
		"SPF is not aligned":                          {google, append(repeat(4, dkimOnly), repeat(9, day(10, 10))...), []string{"unaligned_spf 1-10"}},
		"SPF stays so without mail for a few days":    {google, append(repeat(4, dkimOnly), repeat(5, day(0, 0))...), []string{"unaligned_spf 1-"}},
		"SPF closes without mail for a week":          {google, append(repeat(4, dkimOnly), repeat(8, day(0, 0))...), []string{"unaligned_spf 1-10"}},
		"between the limits nothing changes":          {google, append(repeat(2, dkimOnly), repeat(20, sources.Day{Messages: 10, Passing: 10, DKIMAligned: 10, SPFAligned: 7})...), []string{"unaligned_spf 1-"}},
		"neither is aligned": {
			google, repeat(10, sources.Day{Messages: 30}), []string{"unaligned_dkim 0-", "unaligned_spf 0-", "failing_volume 3-"},
		},
		"a sender that is new":               {google, append(repeat(20, day(0, 0)), repeat(40, day(4, 4))...), []string{"new_source 22-50"}},
		"a sender of the first two weeks":    {google, append(repeat(13, day(0, 0)), repeat(40, day(4, 4))...), nil},
		"a new sender with few messages":     {stranger, append(repeat(20, day(0, 0)), repeat(9, day(1, 1))...), nil},
		"a spoofer is not a new sender":      {spoofer, append(repeat(20, day(0, 0)), repeat(9, day(4, 0))...), nil},
		"it is not new after a month":        {stranger, append(append(repeat(20, day(0, 0)), repeat(31, day(0, 0))...), day(1, 1)), nil},
		"slow at first, too late to be new":  {stranger, append(append(repeat(20, day(0, 0)), day(1, 1)), append(repeat(30, day(0, 0)), day(50, 50))...), nil},
		"a month old when there are enough":  {stranger, append(append(repeat(20, day(0, 0)), day(1, 1)), append(repeat(29, day(0, 0)), day(50, 50))...), nil},
		"half of them are aligned":           {google, repeat(9, sources.Day{Messages: 10, Passing: 10, SPFAligned: 5, DKIMAligned: 5}), nil},
		"figures of any size":                {google, repeat(9, sources.Day{Messages: math.MaxInt64, SPFAligned: math.MaxInt64, DKIMAligned: math.MinInt64}), []string{"failing_volume 0-", "unaligned_dkim 0-"}},
		"more passing than messages (error)": {stranger, repeat(9, day(20, 400)), nil},
	} {
		got := sources.Findings(tc.source, days(tc.days...))
		if diff := cmp.Diff(tc.want, spans(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestForemost(t *testing.T) {
	t.Parallel()
	own := sources.Identity{Name: "Own mail of bakery.example", Classification: sources.Own}
	all := sources.Findings(own, days(append(repeat(15, day(0, 0)), repeat(9, sources.Day{Messages: 30})...)...))
	var order []sources.Code
	for range all {
		first, _ := sources.Foremost(all)
		order = append(order, first.Code)
		all = slices.DeleteFunc(all, func(f sources.Finding) bool { return f.Code == first.Code })
	}
	want := []sources.Code{sources.FailingVolume, sources.UnalignedDKIM, sources.UnalignedSPF, sources.NewSource}
	if !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
	closed := []sources.Finding{{Code: sources.NewSource, OpenedAt: firstDay, ClosedAt: firstDay}}
	if _, found := sources.Foremost(closed); found {
		t.Error("a closed finding is open")
	}
}

// TestDetails checks the sentences about findings.
func TestDetails(t *testing.T) {
	t.Parallel()
	quiet := repeat(15, day(0, 0))
	for _, tc := range []struct {
		class sources.Classification
		code  sources.Code
		days  []sources.Day
		want  string
	}{
		{sources.Unknown, sources.FailingVolume, repeat(1, day(140, 13)), "127 messages of 140 failed the check of your domain in one day. They came from acme.example, which is not authorized."},
		{sources.Authorised, sources.FailingVolume, repeat(9, day(20, 0)), "140 messages of 140 failed the check of your domain in the last 7 days with reports. They came from acme.example, which may send for you."},
		{sources.Own, sources.FailingVolume, repeat(9, day(20, 0)), "They came from your own servers or your sending account."},
		{sources.Spoofing, sources.FailingVolume, repeat(9, day(20, 0)), "nothing shows that they are yours."},
		{sources.Forwarder, sources.FailingVolume, repeat(9, day(20, 0)), "You cannot repair this."},
		{sources.Authorised, sources.UnalignedDKIM, repeat(2, sources.Day{Messages: 10, Passing: 10, SPFAligned: 10, DKIMAligned: 1}), "Only 2 of 20 messages from acme.example in the last 2 days with reports have a signature (DKIM) of your domain."},
		{sources.Authorised, sources.UnalignedSPF, repeat(2, sources.Day{Messages: 10, Passing: 10, DKIMAligned: 10}), "None of 20 messages from acme.example in the last 2 days with reports have a return address of your domain that SPF confirms."},
		{sources.Unknown, sources.NewSource, append(quiet, day(11, 11)), "acme.example sent mail in the name of your domain for the first time on 16 March 2026, 11 messages so far. It is not authorized."},
		{sources.Authorised, sources.NewSource, append(quiet, day(11, 11)), "It is authorized."},
	} {
		found := false
		for _, f := range sources.Findings(sources.Identity{Name: "acme.example", Classification: tc.class}, days(tc.days...)) {
			found = found || f.Code == tc.code && strings.Contains(f.Detail, tc.want)
			if f.Code == tc.code && !strings.Contains(f.Detail, tc.want) {
				t.Errorf("%s, %s: %q", tc.class, tc.code, f.Detail)
			}
		}
		if !found {
			t.Errorf("%s, %s: no such finding", tc.class, tc.code)
		}
	}
}

// TestFindingsDoNotRewriteThePast checks that a day more never changes when a finding opened
// or that it closed, and that findings of one code do not overlap.
func TestFindingsDoNotRewriteThePast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := sources.Identity{Name: "a", Classification: rapid.SampledFrom([]sources.Classification{sources.Authorised, sources.Unknown, sources.Spoofing}).Draw(t, "class")}
		all := days(rapid.SliceOfN(rapid.Custom(drawDay), 1, 60).Draw(t, "days")...)
		before := map[sources.Code][]sources.Finding{}
		for n := range all {
			after := map[sources.Code][]sources.Finding{}
			for _, f := range sources.Findings(source, all[:n+1]) {
				after[f.Code] = append(after[f.Code], f)
			}
			for code, findings := range before {
				for i, f := range findings {
					got := after[code][i]
					if !got.OpenedAt.Equal(f.OpenedAt) || !f.ClosedAt.IsZero() && got != f || got.Detail == "" {
						t.Fatalf("day %d: %+v, before %+v", n, got, f)
					}
					if i > 0 && after[code][i-1].ClosedAt.After(got.OpenedAt) {
						t.Fatalf("day %d: %+v", n, after[code])
					}
				}
			}
			before = after
		}
	})
}

func drawDay(t *rapid.T) sources.Day {
	messages := rapid.Int64Range(0, 60).Draw(t, "messages")
	part := func(label string) int64 { return rapid.Int64Range(0, messages).Draw(t, label) }
	return sources.Day{Messages: messages, Passing: part("passing"), SPFAligned: part("spf"), DKIMAligned: part("dkim")}
}
