package compose_test

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/domainauth/report/compose"
	"github.com/mailhelm/mailhelm/core/domainauth/report/reporttest"
)

// TestRoundTrip writes drawn reports in both formats, and reads them.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	d := drawer{rand.New(rand.NewPCG(1, 2))}
	for range 300 {
		r, records := d.report()
		for _, f := range []compose.Format{compose.RFC9990, compose.RFC7489} {
			checkRoundTrip(t, f, r, records)
		}
		if t.Failed() {
			return
		}
	}
}

// FuzzRoundTrip writes a report with arbitrary texts. It is either refused or read as it was.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a & b <c> ]]>", "example.com", int64(1795737600), int64(1795823999), uint64(7), "192.0.2.1", "pass")
	f.Add("\u00a0x\u2028", "bücher.example", int64(1), int64(253402300799), uint64(1)<<40, "2001:db8::1", "none")
	f.Add(strings.Repeat("&", 1024), "EXAMPLE.com.", int64(0), int64(-1), uint64(0), "::ffff:192.0.2.1", "other")
	f.Fuzz(func(t *testing.T, text, word string, begin, end int64, count uint64, ip, disposition string) {
		r := report.Report{
			Version: text, Org: text, Email: text, Contact: text, ID: text, Begin: time.Unix(begin, 0).UTC(), End: time.Unix(end, 0).UTC(), Generator: text, Errors: []string{text, text},
			Policy: report.Policy{Domain: word, P: word, SP: word, NP: word, ADKIM: word, ASPF: word, FO: text, Pct: text, Testing: word, Discovery: word},
		}
		addr, _ := netip.ParseAddr(ip)
		record := report.Record{
			SourceIP: addr, Count: count, Disposition: disposition, DKIM: begin%2 == 0, SPF: end%2 == 0, Reasons: []report.Reason{{Type: word, Comment: text}},
			HeaderFrom: word, EnvelopeFrom: word, Signatures: []report.Signature{{Domain: word, Selector: text, Result: word}}, SPFResults: []report.SPFResult{{Domain: word, Scope: word, Result: word}},
		}
		for _, format := range []compose.Format{compose.RFC9990, compose.RFC7489} {
			var b bytes.Buffer
			if err := compose.Write(&b, format, r, slices.Values([]report.Record{record})); err == nil {
				checkRead(t, format, &b, r, []report.Record{record})
			}
		}
	})
}

func checkRoundTrip(t *testing.T, f compose.Format, r report.Report, records []report.Record) {
	t.Helper()
	var plain, packed bytes.Buffer
	if err := errors.Join(compose.Write(&plain, f, r, slices.Values(records)), compose.WriteGzip(&packed, f, r, slices.Values(records))); err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(content, plain.Bytes()) {
		t.Fatalf("the compressed report has other content: %v", err)
	}
	checkRead(t, f, &plain, r, records)
}

// checkRead compares what report.Parse reads, and what encoding/xml accepts, with what was written.
func checkRead(t *testing.T, f compose.Format, written *bytes.Buffer, r report.Report, records []report.Record) {
	t.Helper()
	document := written.String()
	if err := xml.Unmarshal(written.Bytes(), new(struct{})); err != nil {
		t.Errorf("encoding/xml: %v\n%s", err, document)
	}
	var got []report.Record
	read, err := report.Parse(written, func(r *report.Record) error { got = append(got, reporttest.Clone(r)); return nil })
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	want, wantRecords := expected(f, r, records)
	if diff := cmp.Diff(want, *read, cmpopts.IgnoreFields(report.Warning{}, "Offset")); diff != "" {
		t.Errorf("report (-written +read):\n%s\n%s", diff, document)
	}
	if diff := cmp.Diff(wantRecords, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
		t.Errorf("records (-written +read):\n%s\n%s", diff, document)
	}
}

// expected returns what is read of a report in a format.
func expected(f compose.Format, r report.Report, records []report.Record) (report.Report, []report.Record) {
	r.Namespace, r.Records, r.Messages = string(f), len(records), 0
	if f == compose.RFC9990 {
		r.Policy.Pct = ""
	} else {
		r.Policy.NP, r.Policy.Testing, r.Policy.Discovery, r.Generator = "", "", "", ""
	}
	if span := r.End.Sub(r.Begin); span > 25*time.Hour {
		r.Warnings = []report.Warning{{Code: report.LongPeriod, Count: 1, Detail: span.String()}}
	}
	records = slices.Clone(records)
	for i := range records {
		records[i].Domain = r.Policy.Domain
		r.Messages += records[i].Count
		if f == compose.RFC7489 && records[i].Disposition == "pass" {
			records[i].Disposition = "none"
		}
	}
	return r, records
}

// TestRefusals changes one value after the other of a report that is accepted.
func TestRefusals(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	cases := map[string]func(r *report.Report, record *report.Record){
		`report_id of the metadata: "" is missing`:                                  func(r *report.Report, _ *report.Record) { r.ID = "" },
		`org_name of the metadata: " a" begins or ends with a space`:                func(r *report.Report, _ *report.Record) { r.Org = " a" },
		`email of the metadata: "a\nb" has characters that XML cannot have here`:    func(r *report.Report, _ *report.Record) { r.Email = "a\nb" },
		`email of the metadata: "\xff" has characters that XML cannot have here`:    func(r *report.Report, _ *report.Record) { r.Email = "\xff" },
		`extra_contact_info of the metadata: "` + long[:40] + `" is too long`:       func(r *report.Report, _ *report.Record) { r.Contact = long },
		`error of the metadata: "21" is too many`:                                   func(r *report.Report, _ *report.Record) { r.Errors = slices.Repeat([]string{"e"}, 21) },
		`domain of the published policy: "" is missing`:                             func(r *report.Report, _ *report.Record) { r.Policy.Domain = "" },
		`p of the published policy: "None" must be in lower case, without a dot at`: func(r *report.Report, _ *report.Record) { r.Policy.P = "None" },
		`date_range of the metadata: "2026-11-21 00:00:00 +0000 UTC to 2026-11-20 23:59:59 +0000 UTC" is not a range`: func(r *report.Report, _ *report.Record) {
			r.Begin = r.End.Add(time.Second)
		},
		`count of the record of 192.0.2.1: "0" is not between`:                               func(_ *report.Report, r *report.Record) { r.Count = 0 },
		`source_ip of the record of invalid IP: "invalid IP" is not an address`:              func(_ *report.Report, r *report.Record) { r.SourceIP = netip.Addr{} },
		`source_ip of the record of ::ffff:192.0.2.1: "::ffff:192.0.2.1" is not an`:          func(_ *report.Report, r *report.Record) { r.SourceIP = netip.MustParseAddr("::ffff:192.0.2.1") },
		`disposition of the record of 192.0.2.1: "" is unknown`:                              func(_ *report.Report, r *report.Record) { r.Disposition = "" },
		`domain of the record of 192.0.2.1: "" is missing`:                                   func(_ *report.Report, r *report.Record) { r.Signatures = []report.Signature{{Result: "pass"}} },
		`type of the record of 192.0.2.1: "" is missing`:                                     func(_ *report.Report, r *report.Record) { r.Reasons = []report.Reason{{Comment: "c"}} },
		`reason of the record of 192.0.2.1: "21" is too many`:                                func(_ *report.Report, r *report.Record) { r.Reasons = make([]report.Reason, 21) },
		`auth_results of the record of 192.0.2.1: "101" is too many`:                         func(_ *report.Report, r *report.Record) { r.SPFResults = make([]report.SPFResult, 101) },
		`header_from of the record of 192.0.2.1: "example.com." must be in lower case, with`: func(_ *report.Report, r *report.Record) { r.HeaderFrom = "example.com." },
	}
	for want, change := range cases {
		r, record := valid()
		change(&r, &record)
		err := compose.Write(io.Discard, compose.RFC9990, r, slices.Values([]report.Record{record}))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	r, record := valid()
	for f, want := range map[compose.Format]string{compose.RFC7489: "", "urn:other": `format: "urn:other" is unknown`} {
		got := ""
		if err := compose.WriteGzip(io.Discard, f, r, slices.Values([]report.Record{record})); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, expected %q", f, got, want)
		}
	}
}

// valid returns a report that is accepted, with a record.
func valid() (report.Report, report.Record) {
	begin := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	return report.Report{ID: "1", Begin: begin, End: begin.Add(24*time.Hour - time.Second), Policy: report.Policy{Domain: "example.com", P: "none"}},
		report.Record{SourceIP: netip.MustParseAddr("192.0.2.1"), Count: 1, Disposition: "none"}
}

var errFull = errors.New("the disk is full")

// TestErrorOfWriter checks that an error of the writer is returned, at any place.
func TestErrorOfWriter(t *testing.T) {
	t.Parallel()
	r, record := valid()
	many := slices.Repeat([]report.Record{record}, 50)
	var whole bytes.Buffer
	if err := compose.Write(&whole, compose.RFC9990, r, slices.Values(many)); err != nil {
		t.Fatal(err)
	}
	for room := 0; room < whole.Len(); room += 997 {
		if err := compose.Write(&disk{room}, compose.RFC9990, r, slices.Values(many)); !errors.Is(err, errFull) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
	if err := compose.WriteGzip(&disk{5}, compose.RFC9990, r, slices.Values(many)); !errors.Is(err, errFull) {
		t.Errorf("compressed: %v", err)
	}
}

// disk has room for a number of bytes.
type disk struct{ room int }

func (d *disk) Write(b []byte) (int, error) {
	if d.room -= len(b); d.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}
