package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// reportedDomain is the domain that the reports are about.
const reportedDomain = "acme.example"

// largeEvery is the distance between reports that are stored in several transactions.
const largeEvery = 10

// reportsSize returns the number of kills, and how many reports come in at least.
func reportsSize() (kills, reports int) {
	if enginetest.Full() {
		return 100, 3000
	}
	return 2, 60
}

// TestKilledServersReadReports kills servers while DMARC reports come in by mail. Each report whose
// mail got 250 must be counted once, however often it was read, and no object of it may be left.
func TestKilledServersReadReports(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		kills, reports := reportsSize()
		chance := rand.New(rand.NewPCG(uint64(kills), 20))
		r := newReportScene(t, postgres, reports)
		began := time.Now()
		at := r.killServers(t, clients/4, kills, 2*reports/kills, chance)
		at.kill(t)
		r.check(t)
		t.Logf("%d kills in %v: %d mails with 250", kills, time.Since(began).Round(time.Second), r.mailer.acknowledged())
	})
}

// reportScene is an organization that receives reports about a domain. A person has accepted the
// reporter, so that no mail needs a signature.
type reportScene struct{ *mailScene }

func newReportScene(t *testing.T, postgres bool, reports int) *reportScene {
	t.Helper()
	r := &reportScene{emptyMailScene(t, postgres, false)}
	r.change(t, func(ctx context.Context, h *serve.Host) error {
		db := h.DB()
		if err := db.DMARCReports().AddDomain(ctx, r.org, reportedDomain, h.Clock()()); err != nil {
			return err
		}
		d, err := db.DomainAuth().Domain(ctx, r.org, reportedDomain)
		r.mailer = newMailer(reports, [][]string{{arrivals.AddressOf(d.Token, r.config().MailDomain())}})
		_, decided := db.ReportArrivals().Decide(ctx, r.org, "reporter.example", arrivals.Accepted, "test", h.Clock()())
		return errors.Join(err, decided)
	})
	r.mailer.write = reportMail
	return r
}

// messagesOf returns how many messages the report with a number has.
func messagesOf(n int) int {
	if n%largeEvery == 0 {
		return 3000
	}
	return 7
}

// reportMail returns a mail with the report with a number. It is the same for each attempt to send
// it, so that those that are stored twice are duplicates.
func reportMail(n int, name, to string) string {
	begin := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2-n%20)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, `<feedback><report_metadata><org_name>Reporter</org_name><email>dmarc@reporter.example</email><report_id>%d</report_id><date_range><begin>%d</begin><end>%d</end></date_range></report_metadata><policy_published><domain>%s</domain><p>none</p></policy_published>`,
		n, begin.Unix(), begin.Unix()+86399, reportedDomain)
	for i := range messagesOf(n) {
		fmt.Fprintf(z, `<record><row><source_ip>198.51.%d.%d</source_ip><count>1</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row><identifiers><header_from>%s</header_from></identifiers></record>`,
			i%200, i%250, reportedDomain)
	}
	_, _ = z.Write([]byte("</feedback>")) // into memory
	_ = z.Close()
	encoded := base64.StdEncoding.EncodeToString(packed.Bytes())
	var lines strings.Builder
	for len(encoded) > 76 {
		lines.WriteString(encoded[:76] + "\n")
		encoded = encoded[76:]
	}
	return strings.ReplaceAll(fmt.Sprintf("From: dmarc@reporter.example\nTo: %s\nSubject: %s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nA report.\n"+
		"--b\nContent-Type: application/gzip\nContent-Disposition: attachment; filename=\"%d.xml.gz\"\nContent-Transfer-Encoding: base64\n\n%s\n--b--\n", to, name, n, lines.String()+encoded), "\n", "\r\n")
}

// check lets another process read what was begun, and compares what is counted with what was sent.
func (r *reportScene) check(t *testing.T) {
	t.Helper()
	r.Ahead = afterLeases
	at := launch(t, r.life)
	r.awaitNone(t, at, map[string]string{
		"messages are not processed": `SELECT count(*) FROM received_mail WHERE org_id = $1`,
		"files are due":              `SELECT count(*) FROM domainauth_files WHERE org_id = $1 AND due_at IS NOT NULL`,
	})
	at.kill(t)
	sent, want := map[string]bool{}, 0
	r.read(t, `SELECT message_id, name, state FROM domainauth_files WHERE org_id = $1`, func(c []string) {
		sent[c[0]] = true
		if c[2] != string(arrivals.Read) {
			t.Errorf("%s of message %s is %s", c[1], c[0], c[2])
		}
	})
	for _, a := range r.mailer.attempts {
		if a.result == acknowledged && !sent[a.id] {
			t.Errorf("the report of the attempt %s is lost", a.name)
		}
	}
	reports := map[string]bool{}
	r.read(t, `SELECT DISTINCT name, '', '' FROM domainauth_files WHERE org_id = $1`, func(c []string) {
		reports[c[0]] = true
		n := 0
		_, err := fmt.Sscanf(c[0], "%d.xml.gz", &n)
		must(t, err)
		want += messagesOf(n)
	})
	for what, query := range map[string]string{
		"messages of reports":    `SELECT sum(messages) FROM domainauth_reports WHERE org_id = $1 AND state = 'counted'`,
		"records":                `SELECT count(*) FROM domainauth_rows WHERE org_id = $1`,
		"messages of all days":   `SELECT sum(none_dkim) FROM domainauth_totals WHERE org_id = $1`,
		"messages of sources":    `SELECT sum(none_dkim) FROM domainauth_daily WHERE org_id = $1`,
		"messages of all months": `SELECT sum(none_dkim) FROM domainauth_monthly WHERE org_id = $1`,
	} {
		if got := one(t, r.db, query, r.org); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	for what, query := range map[string]string{
		"counted reports":   `SELECT count(*) FROM domainauth_reports WHERE org_id = $1`,
		"reports of files":  `SELECT sum(reports) FROM domainauth_files WHERE org_id = $1`,
		"files without one": `SELECT count(*) - sum(duplicates) FROM domainauth_files WHERE org_id = $1`,
	} {
		if got := one(t, r.db, query, r.org); got != len(reports) {
			t.Errorf("%s: %d, want %d", what, got, len(reports))
		}
	}
	if len(reports) < r.mailer.least {
		t.Errorf("%d reports came in, want %d at least", len(reports), r.mailer.least)
	}
	r.sweep(t)
}
