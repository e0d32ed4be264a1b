package arrivals_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var (
	passed   = inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Pass, DMARC: inbound.Pass}
	unproven = inbound.Verdicts{SPF: inbound.Gray, DKIM: inbound.Gray, DMARC: inbound.Gray}
	one      = arrivals.Counts{Reports: 1}
)

// TestReportsCount receives reports in all forms of mail that reporters use.
func TestReportsCount(t *testing.T) {
	t.Parallel()
	xml := usual("1")
	for name, raw := range map[string]string{
		"gzip attachment":                  mail("dmarc@reporter.example", gz(xml)),
		"zip attachment":                   mail("dmarc@reporter.example", attachment{"r.zip", "application/zip", zipOf(t, xml)}),
		"plain XML attachment":             mail("dmarc@reporter.example", attachment{"r.xml", "text/xml", []byte(xml)}),
		"wrong type":                       mail("dmarc@reporter.example", attachment{"r.xml.gz", "image/png", zipped(xml)}),
		"no name":                          mail("dmarc@reporter.example", attachment{"", "application/octet-stream", zipped(xml)}),
		"beside a logo and a signature":    mail("dmarc@reporter.example", attachment{"logo.png", "image/png", []byte("png")}, gz(xml), attachment{"smime.p7s", "application/pkcs7-signature", []byte("x")}),
		"the message is the gzip file":     whole("dmarc@reporter.example", "application/gzip", zipped(xml)),
		"the message is XML":               whole("dmarc@reporter.example", "text/xml", []byte(xml)),
		"the text is XML":                  whole("dmarc@reporter.example", "text/plain", []byte(xml)),
		"the text is XML in a multipart":   strings.Replace(mail("dmarc@reporter.example"), "A report.", strings.ReplaceAll(xml, "\n", "\r\n"), 1),
		"a gzip file that is called text":  whole("dmarc@reporter.example", "text/plain; charset=utf-8", zipped(xml)),
		"a subdomain of the reporter":      mail("dmarc@mail.reporter.example", gz(xml)),
		"the reporter in another case":     mail("dmarc@Reporter.Example", gz(strings.Replace(xml, "dmarc@reporter", "Dmarc@REPORTER", 1))),
		"an organization that is a domain": mail("dmarc@reporter.example", gz(reportOf("1", "Reporter.example", "", domain))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storagetest.SQLite(t))
			w.zone["_dmarc.reporter.example"] = "v=DMARC1; p=reject"
			w.verdicts = passed
			w.receive(raw)
			w.read()
			w.want(arrivals.Read, one, "")
			if w.messages() != 7 || w.objects() != 0 {
				t.Errorf("%d messages are counted, %d objects are left", w.messages(), w.objects())
			}
		})
	}
}

func zipOf(t *testing.T, texts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, text := range texts {
		f, err := z.Create(strings.Repeat("r", i+1) + ".xml")
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	must(t, z.Close())
	return b.Bytes()
}

// TestReportsAreHeld receives reports that an attacker could have written. They must count
// nothing until a person accepts the reporter, and then once.
func TestReportsAreHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, report string
		verdicts     inbound.Verdicts
		reporter     string
	}{
		"DMARC did not pass":          {"dmarc@reporter.example", usual("1"), unproven, "reporter.example"},
		"DMARC failed":                {"dmarc@reporter.example", usual("1"), inbound.Verdicts{DMARC: inbound.Fail}, "reporter.example"},
		"DNS did not answer":          {"dmarc@reporter.example", usual("1"), inbound.Verdicts{DMARC: inbound.ProcessingFailed}, "reporter.example"},
		"no check":                    {"dmarc@reporter.example", usual("1"), inbound.Verdicts{DMARC: inbound.Disabled}, "reporter.example"},
		"another domain":              {"dmarc@attacker.example", usual("1"), passed, "reporter.example"},
		"a domain that looks alike":   {"dmarc@evilreporter.example", usual("1"), passed, "reporter.example"},
		"a name of another":           {"dmarc@attacker.example", reportOf("1", "reporter.example", "", domain), passed, "reporter.example"},
		"a name that is no domain":    {"dmarc@attacker.example", reportOf("1", "Big  Mail Inc.", "", domain), passed, "big mail inc."},
		"no sender":                   {"", usual("1"), passed, "reporter.example"},
		"below a public suffix":       {"dmarc@a.shared.example", reportOf("1", "", "dmarc@b.shared.example", domain), passed, "b.shared.example"},
		"above the sender":            {"dmarc@customer.reporter.example", usual("1"), passed, "reporter.example"},
		"no name, and not proven":     {"dmarc@reporter.example", reportOf("1", "", "", domain), unproven, "unknown"},
		"no name and no sender":       {"", reportOf("1", "", "", domain), passed, "unknown"},
		"a very long name":            {"dmarc@attacker.example", reportOf("1", strings.Repeat("ä", 500), "", domain), passed, strings.Repeat("ä", 126)},
		"a name with a NUL character": {"dmarc@attacker.example", reportOf("1", "A\x00B", "", domain), passed, "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storagetest.SQLite(t))
			w.zone["_dmarc.shared.example"] = "v=DMARC1; psd=y"
			w.zone["_dmarc.customer.reporter.example"] = "v=DMARC1; p=none; psd=n"
			w.verdicts = c.verdicts
			w.receive(mail(c.from, gz(c.report)))
			w.read()
			f := w.only()
			if f.State != arrivals.Held || f.Reporter != c.reporter || f.Problem == "" || w.messages() != 0 || w.objects() == 0 {
				t.Fatalf("%+v, %d messages counted, %d objects", f, w.messages(), w.objects())
			}
			w.read()
			reporters, err := w.desk.Reporters(t.Context(), w.org)
			if err != nil || len(reporters) != 1 || reporters[0].Name != c.reporter || reporters[0].Held != 1 || !reporters[0].LastHeldAt.Equal(start) {
				t.Errorf("reporters %+v, %v", reporters, err)
			}
			if n, err := w.desk.Accept(t.Context(), person, w.org, c.reporter); n != 1 || err != nil {
				t.Fatalf("%d files, %v", n, err)
			}
			w.read()
			w.read()
			w.want(arrivals.Read, one, "")
			if w.messages() != 7 || w.objects() != 0 {
				t.Errorf("%d messages are counted, %d objects are left", w.messages(), w.objects())
			}
		})
	}
}

// TestDecisions follows the decisions of people about a reporter.
func TestDecisions(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w, ctx := newWorld(t, db), t.Context()
		w.verdicts = passed
		must(t, w.desk.Reject(ctx, person, w.org, " Reporter.Example "))
		w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
		w.read()
		w.want(arrivals.Held, arrivals.Counts{}, "rejected")
		must(t, w.desk.Reject(ctx, person, w.org, "reporter.example"))
		w.Advance(time.Second)
		if n, err := w.desk.Accept(ctx, person, w.org, "reporter.example"); n != 1 || err != nil {
			t.Fatalf("%d files, %v", n, err)
		}
		w.read()
		w.want(arrivals.Read, one, "")
		w.verdicts = unproven
		w.Advance(time.Second)
		w.receive(mail("anyone@attacker.example", gz(usual("2"))))
		w.read()
		if f := w.files()[0]; f.State != arrivals.Read || f.Counts != one || w.messages() != 14 {
			t.Errorf("mail of an accepted reporter: %+v", f)
		}
		reporters, err := w.desk.Reporters(ctx, w.org)
		if err != nil || len(reporters) != 1 || reporters[0].Decision != arrivals.Accepted || reporters[0].DecidedBy != person.ID || reporters[0].Held != 0 || reporters[0].LastHeldAt != nil {
			t.Errorf("reporters %+v, %v", reporters, err)
		}
		var actions []string
		entries, err := db.Audit().FindAudit(ctx, w.org, access.AuditFilter{Limit: 10})
		must(t, err)
		for _, e := range entries {
			actions = append(actions, e.Action+" "+e.ActorID+" "+e.Detail)
		}
		if len(actions) != 2 || !strings.HasPrefix(actions[0], "dmarc_reporter.accepted "+person.ID) || !strings.Contains(actions[0], `"reporter":"reporter.example","held_files":1`) || !strings.HasPrefix(actions[1], "dmarc_reporter.rejected") {
			t.Errorf("audit log: %q", actions)
		}
		for _, bad := range []string{"", strings.Repeat("x", 254), "a\x00b"} {
			if _, err := w.desk.Accept(ctx, person, w.org, bad); core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}

// TestAcceptDuringTheAttempt accepts a reporter while its file is being read. The file must be read
// again, and not be held until it is deleted.
func TestAcceptDuringTheAttempt(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = unproven
		w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
		opened := false
		w.stores.Fail = func(call, _ string) error {
			if call == "open" && !opened {
				opened = true
				// The reader has not looked for decisions yet, but sees this one only if it looks again.
				_, err := w.desk.Accept(t.Context(), person, w.org, "reporter.example")
				return err
			}
			return nil
		}
		w.read()
		w.read()
		w.want(arrivals.Read, one, "")
		if !opened {
			t.Error("the file was not opened")
		}
	})
}

// TestContentThatIsNoReport receives files that cannot be counted.
func TestContentThatIsNoReport(t *testing.T) {
	t.Parallel()
	// A gzip file may have several members, whose contents follow each other.
	bomb := append(zipped("<feedback>"), bytes.Repeat(zipped(strings.Repeat(" ", 16<<20)), 1<<30/(16<<20))...)
	damaged := zipped(usual("1"))
	damaged = damaged[:8]
	for name, c := range map[string]struct {
		raw     string
		state   arrivals.State
		counts  arrivals.Counts
		problem string
	}{
		"a bomb":                      {mail("dmarc@reporter.example", attachment{"r.xml.gz", "application/gzip", bomb}), arrivals.Failed, arrivals.Counts{}, "far larger than any DMARC report"},
		"text that begins like zip":   {mail("dmarc@reporter.example", attachment{"r.zip", "application/zip", []byte("PK\x03\x04 this is no zip file")}), arrivals.Failed, arrivals.Counts{}, "damaged"},
		"a cut gzip file":             {mail("dmarc@reporter.example", attachment{"r.xml.gz", "application/gzip", damaged}), arrivals.Failed, arrivals.Counts{}, "damaged"},
		"another XML document":        {mail("dmarc@reporter.example", gz("<rss><channel/></rss>")), arrivals.Failed, arrivals.Counts{}, "not a DMARC report"},
		"an empty file":               {mail("dmarc@reporter.example", attachment{"r.xml", "text/xml", nil}), arrivals.Failed, arrivals.Counts{}, "not a DMARC report"},
		"a zip file without files":    {mail("dmarc@reporter.example", attachment{"r.zip", "application/zip", zipOf(t)}), arrivals.Failed, arrivals.Counts{}, "not a DMARC report"},
		"a TLS report":                {mail("dmarc@reporter.example", attachment{"r.json.gz", "application/tlsrpt+gzip", zipped(`{"organization-name":"Reporter","date-range":{},"report-id":"1","policies":[]}`)}), arrivals.Read, arrivals.Counts{TLSReports: 1}, ""},
		"another domain":              {mail("dmarc@reporter.example", gz(reportOf("1", "Reporter", "dmarc@reporter.example", "other.example"))), arrivals.Read, arrivals.Counts{Foreign: 1}, ""},
		"another domain, not proven":  {mail("", gz(reportOf("1", "Reporter", "dmarc@other.example", "other.example"))), arrivals.Read, arrivals.Counts{Foreign: 1}, ""},
		"no attachment":               {mail("dmarc@reporter.example"), arrivals.Failed, arrivals.Counts{}, "no attachment"},
		"only a logo":                 {mail("dmarc@reporter.example", attachment{"logo.png", "image/png", []byte("png")}), arrivals.Failed, arrivals.Counts{}, "no attachment"},
		"a message without a header":  {"hello", arrivals.Failed, arrivals.Counts{}, "no attachment"},
		"two reports, one rejected":   {mail("dmarc@reporter.example", attachment{"r.zip", "application/zip", zipOf(t, usual("1"), reportOf("2", "", "dmarc@other.example", domain))}), arrivals.Held, arrivals.Counts{}, "another reporter"},
		"an old report":               {mail("dmarc@reporter.example", gz(strings.NewReplacer("1772236800", "872236800", "1772323199", "872323199").Replace(usual("1")))), arrivals.Failed, arrivals.Counts{}, "too long ago"},
		"two reports of one reporter": {mail("dmarc@reporter.example", attachment{"r.zip", "application/zip", zipOf(t, usual("1"), usual("2"))}), arrivals.Read, arrivals.Counts{Reports: 2}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storagetest.SQLite(t))
			w.verdicts = passed
			w.receive(c.raw)
			w.read()
			w.want(c.state, c.counts, c.problem)
			if stored := w.objects(); (stored > 0) != (c.state == arrivals.Held) {
				t.Errorf("%d objects are left", stored)
			}
		})
	}
}

// TestSubdomains receives reports about a subdomain at the address of the domain. They count for the
// subdomain if it is watched.
func TestSubdomains(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.verdicts = passed
	w.addDomain(core.NewID(), "news."+domain, strings.Repeat("n", 26))
	w.receive(mail("dmarc@reporter.example", attachment{"r.zip", "application/zip", zipOf(t,
		reportOf("1", "Reporter", "dmarc@reporter.example", "news."+domain), reportOf("2", "Reporter", "dmarc@reporter.example", "shop."+domain))}))
	w.read()
	w.want(arrivals.Read, arrivals.Counts{Reports: 1, Foreign: 1}, "")
	if w.messages() != 0 {
		t.Errorf("%d messages are counted for the domain", w.messages())
	}
}

// TestMalware receives a message in which a scanner found malware.
func TestMalware(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.verdicts = passed
	w.verdicts.Virus = inbound.Fail
	w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
	w.read()
	w.want(arrivals.Failed, arrivals.Counts{}, "malware")
	if w.objects() != 0 {
		t.Error("the objects are left")
	}
}

// TestManyFiles receives messages with many files, and too many messages.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = passed
		var all []attachment
		for i := range 12 {
			all = append(all, gz(usual(strings.Repeat("i", i+1))))
		}
		w.receive(mail("dmarc@reporter.example", all...))
		w.read()
		for range 6 {
			w.read()
		}
		states := map[arrivals.State]int{}
		for _, f := range w.files() {
			states[f.State]++
		}
		if states[arrivals.Read] != 10 || states[arrivals.Failed] != 1 || w.messages() != 70 || w.objects() != 0 {
			t.Errorf("states %v, %d messages, %d objects", states, w.messages(), w.objects())
		}
	})
}

// TestTheMessageComesTwice processes a message again with other objects, as Amazon SES may send a
// notification twice. The first copy must stay, and the objects of the second be deleted.
func TestTheMessageComesTwice(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = passed
		route, _, err := w.router.Route(t.Context(), addressed)
		must(t, err)
		id, raw := core.NewID(), mail("dmarc@reporter.example", gz(usual("1")))
		w.receiveAs(id, raw, route)
		stored := w.objects()
		w.receiveAs(id, raw, route)
		if now := w.objects(); now != stored || stored != 2 {
			t.Errorf("%d objects, then %d", stored, now)
		}
		held, err := db.ReportArrivals().Held(t.Context(), w.org, []string{id, core.NewID()})
		if err != nil || len(held) != 1 || held[0].MessageID != id || len(held[0].Keys) != 2 {
			t.Errorf("held %+v, %v", held, err)
		}
		w.read()
		w.want(arrivals.Read, one, "")
		if held, err = db.ReportArrivals().Held(t.Context(), w.org, []string{id}); len(held) != 0 || err != nil {
			t.Errorf("held %+v, %v", held, err)
		}
	})
}

// TestDeletedDomain receives mail for a domain that was deleted after the address was looked up.
func TestDeletedDomain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = passed
		route, _, err := w.router.Route(t.Context(), addressed)
		must(t, err)
		w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
		_, err = db.Writer().ExecContext(t.Context(), `DELETE FROM domainauth_domains WHERE org_id = $1`, w.org)
		must(t, err)
		w.receiveAs(core.NewID(), mail("dmarc@reporter.example", gz(usual("2"))), route)
		w.read()
		w.want(arrivals.Failed, arrivals.Counts{}, "not monitored any more")
		if w.objects() != 0 {
			t.Error("objects are left")
		}
	})
}

// TestOrganizationsAreSeparate sends one report to the addresses of two organizations. What one of
// them accepts must not count for the other.
func TestOrganizationsAreSeparate(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w, other := newWorld(t, db), newWorldFor(t, db, strings.Repeat("z", 26))
		for _, x := range []*world{w, other} {
			x.verdicts = unproven
			x.receive(mail("dmarc@reporter.example", gz(usual("1"))))
			x.read()
		}
		if _, err := w.desk.Accept(t.Context(), person, w.org, "reporter.example"); err != nil {
			t.Fatal(err)
		}
		w.read()
		w.want(arrivals.Read, one, "")
		other.want(arrivals.Held, arrivals.Counts{}, "not proven")
		if a, b := w.only(), other.only(); a.OrgID != w.org || b.OrgID != other.org || a.ID == b.ID {
			t.Errorf("%+v and %+v", a, b)
		}
	})
}

// TestDecisionsAreListedFirst decides about a reporter, and invents others whose names come first.
func TestDecisionsAreListedFirst(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		for i := range 3 {
			w.receive(mail("anyone@attacker.example", gz(reportOf("1", "Reporter", fmt.Sprintf("dmarc@a%d.example", i), domain))))
			w.read() // one look has room for two files
		}
		must(t, w.desk.Reject(t.Context(), person, w.org, "z.example"))
		listed, err := db.ReportArrivals().Reporters(t.Context(), w.org, 2)
		must(t, err)
		if len(listed) != 2 || listed[0].Name != "z.example" || listed[1].Name != "a0.example" {
			t.Errorf("%+v", listed)
		}
	})
}
