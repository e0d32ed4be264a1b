package compose_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// drawer draws reports that package compose accepts.
type drawer struct{ *rand.Rand }

func one[T any](d drawer, of ...T) T { return of[d.IntN(len(of))] }

// text returns a text, often an empty one, sometimes with characters that XML has for itself.
func (d drawer) text() string {
	return one(d, "", "", "a", "Receiver & Sons <mail>", "]]>", `"it's"`, "größe ☕", "a  b", strings.Repeat("y", 1024), strings.Repeat("&", 200))
}

func (d drawer) word() string {
	return one(d, "", "example.com", "mail.example.org", "bücher.example", "x_y", "a<b", "none", "pass")
}

func (d drawer) address() netip.Addr {
	if d.IntN(3) == 0 {
		var b [16]byte
		for i := range b {
			b[i] = byte(d.IntN(256))
		}
		return netip.AddrFrom16(b).Unmap()
	}
	return netip.AddrFrom4([4]byte{byte(d.IntN(256)), byte(d.IntN(256)), byte(d.IntN(256)), byte(d.IntN(256))})
}

func (d drawer) report() (report.Report, []report.Record) {
	begin := time.Unix(1+d.Int64N(4e9), 0).UTC()
	r := report.Report{
		Version: one(d, "1.0", ""), Org: d.text(), Email: d.text(), Contact: d.text(), ID: one(d, "1", "<a&b>"), Generator: d.text(),
		Begin: begin, End: begin.Add(time.Duration(d.Int64N(25*3600+1)) * time.Second),
		Policy: report.Policy{
			Domain: one(d, "example.com", "bücher.example"), P: d.word(), SP: d.word(), NP: d.word(), ADKIM: one(d, "", "r", "s"), ASPF: one(d, "", "r", "s"),
			FO: one(d, "", "0", "1:d:s"), Pct: one(d, "", "100", "50"), Testing: one(d, "", "y", "n"), Discovery: one(d, "", "psl", "treewalk"),
		},
	}
	for range d.IntN(3) {
		r.Errors = append(r.Errors, "e"+one(d, "", " & f"))
	}
	records := make([]report.Record, d.IntN(5))
	for i := range records {
		records[i] = d.record()
	}
	return r, records
}

func (d drawer) record() report.Record {
	r := report.Record{
		SourceIP: d.address(), Count: one(d, 1, 7, uint64(100_000_000_000)), Disposition: one(d, "none", "pass", "quarantine", "reject"),
		DKIM: d.IntN(2) == 0, SPF: d.IntN(2) == 0, HeaderFrom: d.word(), EnvelopeFrom: d.word(),
	}
	for range d.IntN(3) {
		r.Reasons = append(r.Reasons, report.Reason{Type: one(d, "forwarded", "local_policy", "a b"), Comment: d.text()})
	}
	for range d.IntN(4) {
		r.Signatures = append(r.Signatures, report.Signature{Domain: one(d, "example.com", "bücher.example"), Selector: d.text(), Result: d.word()})
	}
	for range d.IntN(3) {
		r.SPFResults = append(r.SPFResults, report.SPFResult{Domain: one(d, "example.com", "b.example"), Scope: one(d, "", "mfrom", "helo"), Result: d.word()})
	}
	return r
}
