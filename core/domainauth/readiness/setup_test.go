package readiness_test

import (
	"context"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// now is the time of the measurements. The window is 2026-05-21 to 2026-06-19.
var now = time.Date(2026, 6, 20, 15, 4, 5, 0, time.UTC)

// daysAgo returns the UTC day n days before now. The window has the days 30 to 1.
func daysAgo(n int) time.Time { return figures.AddDays(now, -n) }

// zone has the TXT records of names. It is a DNS without a network.
type zone map[string]string

// TXT returns the record of a name.
func (z zone) TXT(_ context.Context, name string) ([]string, error) {
	if text, ok := z[name]; ok {
		return []string{text}, nil
	}
	return nil, nil
}

// Exists reports whether the name has a record.
func (z zone) Exists(_ context.Context, name string) (bool, error) {
	_, ok := z[name]
	return ok, nil
}

// published returns what DNS says about example.com with a record, and without one for an
// empty text.
func published(t testing.TB, record string) dmarc.Discovery {
	t.Helper()
	z := zone{}
	if record != "" {
		z["_dmarc.example.com"] = record
	}
	return discovered(t, z, "example.com")
}

func discovered(t testing.TB, z zone, domain string) dmarc.Discovery {
	t.Helper()
	d, err := dmarc.Discover(t.Context(), z, domain)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	atNone       = "v=DMARC1; p=none; rua=mailto:dmarc@example.com"
	atQuarantine = "v=DMARC1; p=quarantine; sp=quarantine; rua=mailto:dmarc@example.com"
	atReject     = "v=DMARC1; p=reject; sp=reject; rua=mailto:dmarc@example.com"
)

// source returns a registered source that was seen long before the window.
func source(id string, decision figures.Decision, class figures.Classification) readiness.Source {
	return readiness.Source{Source: figures.Source{ID: id, Decision: decision, Classification: class}, FirstSeen: daysAgo(400)}
}

// complete returns the figures of a domain that is ready: each day of the window has reports
// of three reporters and 100 aligned messages of one confirmed source.
func complete(t testing.TB, record string) readiness.Figures {
	t.Helper()
	f := readiness.Figures{
		Now: now, Published: published(t, record), PolicySince: now.AddDate(0, 0, -90), ReportAddress: "reports@in.example.net",
		Sources: []readiness.Source{source("shop", figures.Confirmed, figures.Authorised)},
	}
	for day := 1; day <= readiness.WindowDays; day++ {
		f.Rows = append(f.Rows, aligned(day, "shop", 100))
		for _, reporter := range []string{"google.com", "yahoo.com", "gmx.net"} {
			f.Coverage = append(f.Coverage, readiness.Coverage{Day: daysAgo(day), Reporter: reporter})
		}
	}
	return f
}

func aligned(day int, source string, n int64) figures.Row {
	return figures.Row{Day: daysAgo(day), Source: source, Aligned: true, Messages: n}
}

func failing(day int, source string, n int64) figures.Row {
	return figures.Row{Day: daysAgo(day), Source: source, Messages: n}
}

func relayBroken(day int, source string, n int64) figures.Row {
	return figures.Row{Day: daysAgo(day), Source: source, RelayBroken: true, Messages: n}
}

// criterion returns the criterion with a name, which the assessment must have once.
func criterion(t testing.TB, a readiness.Assessment, name readiness.Name) readiness.Criterion {
	t.Helper()
	var all []readiness.Criterion
	for _, c := range a.Criteria {
		if c.Name == name {
			all = append(all, c)
		}
	}
	if len(all) != 1 {
		t.Fatalf("the criterion %s is there %d times", name, len(all))
	}
	return all[0]
}
