package arrivals

import (
	"errors"
	"net/textproto"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestReportsByMail sends reports to the product by SMTP: signed by the reporter, not signed, by an
// attacker, and what is no report. Only the first one may count. After a person has accepted the
// reporter, the ones that are held count too, each once. Another organization that watches the same
// domain sees nothing of it.
func TestReportsByMail(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		p := product.Start(t, product.Options{Postgres: postgres, DNS: zone(t).Serve(t).String()})
		w, other := watch(t, p, p.OrgID), watch(t, p, p.Other.OrgID)
		now, to := p.Clock.Now(), w.address()
		mail := func(name, from, signer string, content []byte) {
			t.Helper()
			raw := message(from, to, name, content)
			if signer != "" {
				raw = signed(t, raw, signer)
			}
			must(t, send(p.SMTPAddr, to, raw))
		}
		mail("signed", "dmarc@"+reporter, reporter, zipped(usual("1").at(now)))
		mail("unsigned", "dmarc@"+reporter, "", zipped(usual("2").at(now)))
		mail("attacker", "dmarc@attacker.example", "attacker.example", zipped(usual("3").at(now)))
		mail("forged name", "dmarc@attacker.example", "attacker.example", zipped(written{"4", "reporter.example", "", domain}.at(now)))
		mail("changed", "dmarc@"+reporter, "attacker.example", zipped(usual("5").at(now)))
		mail("another domain", "dmarc@"+reporter, reporter, zipped(written{"6", "Reporter", "dmarc@" + reporter, "other.example"}.at(now)))
		mail("TLS", "dmarc@"+reporter, reporter, zipped(`{"organization-name":"Reporter","date-range":{},"report-id":"1","policies":[]}`))
		mail("broken", "dmarc@"+reporter, reporter, zipped(usual("7").at(now))[:12])
		mail("letter", "dmarc@"+reporter, reporter, []byte("Dear baker"))
		files := w.await(t, map[string]arrivals.State{
			"signed": arrivals.Read, "unsigned": arrivals.Held, "attacker": arrivals.Held, "forged name": arrivals.Held, "changed": arrivals.Held,
			"another domain": arrivals.Read, "TLS": arrivals.Read, "broken": arrivals.Failed, "letter": arrivals.Failed,
		})
		for name, want := range map[string]arrivals.Counts{"signed": {Reports: 1}, "another domain": {Foreign: 1}, "TLS": {TLSReports: 1}, "unsigned": {}} {
			if files[name].Counts != want {
				t.Errorf("%s has %+v, want %+v", name, files[name].Counts, want)
			}
		}
		for name, want := range map[string]string{"unsigned": "not proven", "attacker": "another reporter", "broken": "damaged", "letter": "not a DMARC report"} {
			if !strings.Contains(files[name].Problem, want) {
				t.Errorf("%s: %q", name, files[name].Problem)
			}
		}
		if n := w.messages(t); n != 7 || w.sources(t) != 1 {
			t.Errorf("%d messages of %d sources are counted, want the 7 of the signed report", n, w.sources(t))
		}
		if held, err := w.desk().Accept(t.Context(), person, w.org, reporter); held != 4 || err != nil {
			t.Errorf("%d files are released, %v", held, err)
		}
		mail("signed again", "dmarc@"+reporter, reporter, zipped(usual("1").at(now)))
		files = w.await(t, map[string]arrivals.State{
			"unsigned": arrivals.Read, "attacker": arrivals.Read, "forged name": arrivals.Read, "changed": arrivals.Read, "signed again": arrivals.Read,
		})
		if n := w.messages(t); n != 5*7 || files["signed again"].Counts != (arrivals.Counts{Duplicates: 1}) {
			t.Errorf("%d messages are counted, and the copy has %+v", n, files["signed again"].Counts)
		}
		if len(other.files(t)) != 0 || other.messages(t) != 0 {
			t.Errorf("another organization has %d files and %d messages", len(other.files(t)), other.messages(t))
		}
		unknown(t, p, to)
	})
}

// unknown sends mail to addresses that look like the one for reports. The answer must be that for an
// inbox that does not exist.
func unknown(t *testing.T, p *product.Product, to string) {
	t.Helper()
	for _, address := range []string{"nobody@inbox.localhost", strings.Replace(to, "dmarc-", "dmarc-a", 1), "dmarc-" + strings.Repeat("a", 26) + "@inbox.localhost"} {
		var reply *textproto.Error
		if err := send(p.SMTPAddr, address, message("a@b.example", address, "x", nil)); !errors.As(err, &reply) || reply.Code != 550 || !strings.HasPrefix(reply.Msg, "5.1.1") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
