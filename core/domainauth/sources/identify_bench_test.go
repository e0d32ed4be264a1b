package sources_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

var benchRows = map[string]sources.Evidence{
	"known":     named(row(ipSendGrid, "em1.bakery.example", "pass", signed(bakeryName, "s1"), signed("sendgrid.info", "smtpapi")), "o1.ptr.sendgrid.net"),
	"forwarded": row(ipOutlook, "tenant.example", "pass", signed(bakeryName, "mail2026")),
	"unlisted":  named(row(ipUnknown, "b.newmail.example", "pass", signed("newmail.example", "nm1")), "out.newmail.example"),
	"nothing":   named(row(ipUnknown, bakeryName, "fail", claimed(bakeryName, "mail2026")), "198-18-7-7.isp.example"),
}

func BenchmarkIdentify(b *testing.B) {
	identifier := sources.New(bakery(), knownSenders())
	for name, e := range benchRows {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				identifier.Identify(e)
			}
		})
	}
}

// TestIdentifyAllocates checks the promise that rows of known sources need no memory, because
// 20,000 rows a second are identified.
func TestIdentifyAllocates(t *testing.T) {
	identifier := sources.New(bakery(), knownSenders())
	for name, most := range map[string]float64{"known": 0, "forwarded": 0, "unlisted": 3, "nothing": 3} {
		e := benchRows[name]
		if got := testing.AllocsPerRun(100, func() { identifier.Identify(e) }); got > most {
			t.Errorf("%s: %v allocations, at most %v are expected", name, got, most)
		}
	}
}
