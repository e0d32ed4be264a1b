package demoreports_test

import (
	"bytes"
	"context"
	"io"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demoreports"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

const selector = "k3token"

var now = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// TestReports reads the reports, and checks which sources are found in them.
func TestReports(t *testing.T) {
	t.Parallel()
	files := reports(t, now)
	got, failing, policies := map[string]sources.Classification{}, map[string]int{}, map[string]int{}
	i := identifier(t)
	for n, f := range files {
		if n > 0 && f.ArrivedAt.Before(files[n-1].ArrivedAt) || f.ArrivedAt.After(now) {
			t.Errorf("%s arrived at %s", f.Name, f.ArrivedAt)
		}
		err := report.Unpack(bytes.NewReader(f.Content), report.DefaultLimits, func(document io.Reader) error {
			r, err := report.Parse(document, func(r *report.Record) error {
				id := i.Identify(sources.EvidenceOf(r))
				got[id.Key] = got[id.Key].Merge(id.Classification)
				if !r.Passed() {
					failing[id.Key] += int(r.Count)
				}
				return nil
			})
			policies[r.Policy.P]++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]sources.Classification{
		"own": sources.Own, "sender/google.com": sources.Authorised, "sender/freshdesk.com": sources.Authorised, "sender/cheaphosting.example": sources.Unknown,
		"forwarder/google.com": sources.Forwarder, "forwarder/baristas.example": sources.Forwarder, "net/198.18.40.0/24": sources.Spoofing, "net/198.18.77.0/24": sources.Spoofing,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if failing["sender/cheaphosting.example"] < 300 || failing["sender/google.com"] > 0 || policies["none"] < 100 || policies["quarantine"] < 100 {
		t.Errorf("failing %v, policies %v", failing, policies)
	}
	if again := reports(t, now); !reflect.DeepEqual(files, again) {
		t.Error("the same day gives other reports")
	}
}

func reports(t *testing.T, now time.Time) []demoreports.File {
	t.Helper()
	files, err := demoreports.Reports(now, selector)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// identifier returns the Identifier of the demo's domain, by the records of the demo.
func identifier(t *testing.T) *sources.Identifier {
	t.Helper()
	expand := func(name string) sources.Expansion {
		e, err := sources.Expand(context.Background(), zone(demoreports.Records(now, now, "reports@example.com")), name)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	var known []sources.Expansion
	for _, name := range sources.SenderRecords() {
		known = append(known, expand(name))
	}
	return sources.New(sources.Domain{Name: demoreports.Domain, Selectors: []string{selector}, SPF: expand(demoreports.Domain)}, sources.NewSenderNetworks(known))
}

// zone has TXT records.
type zone map[string]string

func (z zone) TXT(_ context.Context, name string) ([]string, error) {
	if text, found := z[name]; found {
		return []string{text}, nil
	}
	return nil, nil
}

func (zone) Addresses(context.Context, string) ([]netip.Addr, error) { return nil, nil }
func (zone) Exchanges(context.Context, string) ([]string, error)     { return nil, nil }
