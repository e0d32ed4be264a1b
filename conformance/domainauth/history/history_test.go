package history_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/domainauth/history"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// TestTruth reads all files in order with packages report and sources, adds the records, and compares
// the sums with the truth.
func TestTruth(t *testing.T) {
	t.Parallel()
	h := history.New(1, history.Small, now)
	i := identifier(t, h)
	got := h.Truth
	got.Messages, got.Addresses = map[history.Outcome]int64{}, map[string]map[netip.Addr]bool{}
	got.Sources, got.Reports, got.Records = map[string]history.Source{}, 0, 0
	seen := map[string]bool{}
	for n, f := range h.Files {
		if n > 0 && f.ArrivedAt.Before(h.Files[n-1].ArrivedAt) || f.ArrivedAt.After(now) {
			t.Errorf("%s arrived at %s", f.Name, f.ArrivedAt)
		}
		var c history.File
		err := report.Unpack(bytes.NewReader(f.Content), report.DefaultLimits, func(document io.Reader) error {
			return read(document, i, seen, &got, &c)
		})
		isReport := f.Reports+f.Copies+f.Foreign+f.TLS > 0
		if (err == nil) != isReport || c.Reports != f.Reports || c.Copies != f.Copies || c.Foreign != f.Foreign || c.TLS != f.TLS {
			t.Fatalf("%s: %+v, %v", f.Name, c, err)
		}
	}
	if diff := cmp.Diff(h.Truth, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("(-truth +read):\n%s", diff)
	}
	if again := history.New(1, history.Small, now); !reflect.DeepEqual(h, again) {
		t.Error("the same seed gives another history")
	}
}

// read counts one document.
func read(document io.Reader, i *sources.Identifier, seen map[string]bool, got *history.Truth, c *history.File) error {
	var records []report.Record
	var identities []sources.Identity
	r, err := report.Parse(document, func(r *report.Record) error {
		records, identities = append(records, *r), append(identities, i.Identify(sources.EvidenceOf(r)))
		return nil
	})
	switch {
	case errors.Is(err, report.ErrTLSReport):
		c.TLS++
		return nil
	case err != nil:
		return err
	case r.Policy.Domain == history.Other:
		c.Foreign++
		return nil
	case seen[r.Email+r.ID]:
		c.Copies++
		return nil
	}
	seen[r.Email+r.ID] = true
	c.Reports++
	got.Reports++
	got.Records += len(records)
	middle := r.Begin.Add(r.End.Sub(r.Begin) / 2).Truncate(24 * time.Hour)
	for n, r := range records {
		count(got, middle, r, identities[n])
	}
	return nil
}

func count(got *history.Truth, day time.Time, r report.Record, id sources.Identity) {
	o := history.Outcome{Day: day, Source: id.Key, Disposition: r.Disposition, DKIM: r.DKIM, SPF: r.SPF, Relayed: id.Classification == sources.Forwarder && !r.Passed()}
	if o.Disposition == "pass" {
		o.Disposition = "none"
	}
	got.Messages[o] += int64(r.Count)
	if got.Addresses[id.Key] == nil {
		got.Addresses[id.Key] = map[netip.Addr]bool{}
	}
	got.Addresses[id.Key][r.SourceIP] = true
	class := got.Sources[id.Key].Classification.Merge(id.Classification)
	if id.Provider == "klaviyo" { // its key was removed more than 30 days ago
		class = id.Classification
	}
	got.Sources[id.Key] = history.Source{Key: id.Key, Name: id.Name, Provider: id.Provider, Classification: class}
}

// identifier returns the Identifier of the domain, by the DNS of the history.
func identifier(t *testing.T, h *history.History) *sources.Identifier {
	t.Helper()
	expand := func(name string) sources.Expansion {
		e, err := sources.Expand(context.Background(), h.Zone, name)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	var known []sources.Expansion
	for _, name := range sources.SenderRecords() {
		known = append(known, expand(name))
	}
	return sources.New(sources.Domain{Name: history.Domain, SPF: expand(history.Domain)}, sources.NewSenderNetworks(known))
}
