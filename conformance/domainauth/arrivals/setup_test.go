package arrivals

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
	"github.com/mailhelm/mailhelm/storage"
)

const (
	patience = 30 * time.Second
	domain   = "bakery.example"
	reporter = "reporter.example"
)

var key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

// zone has the DNS records of the reporter and of an attacker.
func zone(t *testing.T) *mailauthtest.Zone {
	t.Helper()
	z := mailauthtest.NewZone(t)
	public := base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey)) //nolint:forcetypeassert // of an Ed25519 key
	for _, name := range []string{reporter, "attacker.example"} {
		z.AddTXT("_dmarc."+name, "v=DMARC1; p=reject")
		z.AddTXT("s._domainkey."+name, "v=DKIM1; k=ed25519; p="+public)
	}
	return z
}

// watched is an organization's domain.
type watched struct {
	db  *storage.DB
	org string
	domainauth.Domain
	clock core.Clock
}

// watch has an organization watch the domain.
func watch(t *testing.T, p *product.Product, org string) watched {
	t.Helper()
	must(t, p.DB.DMARCReports().AddDomain(t.Context(), org, domain, p.Clock.Now()))
	d, err := p.DB.DomainAuth().Domain(t.Context(), org, domain)
	must(t, err)
	return watched{p.DB, org, d, p.Clock.Now}
}

// address returns the address for reports.
func (w watched) address() string { return arrivals.AddressOf(w.Token, "inbox.localhost") }

// desk returns what people do with reports.
func (w watched) desk() arrivals.Desk {
	return arrivals.Desk{Store: w.db.ReportArrivals(), Transactor: w.db, Audit: w.db.Audit(), Clock: w.clock}
}

// files returns the files of the organization by their names, which tests choose.
func (w watched) files(t *testing.T) map[string]arrivals.File {
	t.Helper()
	all, err := w.desk().Files(t.Context(), w.org, arrivals.FileFilter{}, nil, 1000)
	must(t, err)
	byName := map[string]arrivals.File{}
	for _, f := range all {
		byName[f.Name] = f
	}
	return byName
}

// messages returns how many messages are counted.
func (w watched) messages(t *testing.T) int {
	t.Helper()
	days, err := w.db.DomainAuth().Totals(t.Context(), w.org, w.ID, domainauth.Days{From: w.clock().AddDate(-1, 0, 0), To: w.clock().AddDate(0, 0, 2)})
	must(t, err)
	total := 0
	for _, d := range days {
		total += int(d.Both + d.DKIMOnly + d.SPFOnly + d.Failing)
	}
	return total
}

// sources returns how many sources are known.
func (w watched) sources(t *testing.T) int {
	t.Helper()
	all, err := w.db.DomainAuth().Registry(t.Context(), w.org, w.ID)
	must(t, err)
	return len(all)
}

// await waits until the files have these states.
func (w watched) await(t *testing.T, want map[string]arrivals.State) map[string]arrivals.File {
	t.Helper()
	var files map[string]arrivals.File
	product.Await(t, patience, func() error {
		files = w.files(t)
		for name, state := range want {
			if files[name].State != state {
				return fmt.Errorf("%s is %q (%s), want %s; all: %d", name, files[name].State, files[name].Problem, state, len(files))
			}
		}
		return nil
	})
	return files
}

var person = access.ActorOf("00000000-0000-4000-8000-000000000001")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// written is a report with seven messages about a domain.
type written struct{ id, org, email, about string }

func (w written) at(now time.Time) string {
	begin := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)
	return fmt.Sprintf(`<?xml version="1.0"?><feedback><report_metadata><org_name>%s</org_name><email>%s</email><report_id>%s</report_id>
<date_range><begin>%d</begin><end>%d</end></date_range></report_metadata><policy_published><domain>%s</domain><p>none</p></policy_published>
<record><row><source_ip>192.0.2.1</source_ip><count>7</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row>
<identifiers><header_from>%[6]s</header_from></identifiers></record></feedback>`, w.org, w.email, w.id, begin.Unix(), begin.Unix()+86399, w.about)
}

// usual returns the report of the reporter about the domain.
func usual(id string) written { return written{id, "Reporter", "dmarc@" + reporter, domain} }

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

// message returns a mail with a file.
func message(from, to, name string, content []byte) string {
	return strings.ReplaceAll(fmt.Sprintf("From: Reports <%s>\nTo: %s\nSubject: Report Domain: %s\nDate: Sun, 1 Mar 2026 12:00:00 +0000\nMessage-ID: <%s@x>\nMIME-Version: 1.0\n"+
		"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nA report.\n"+
		"--b\nContent-Type: application/gzip\nContent-Disposition: attachment; filename=%q\nContent-Transfer-Encoding: base64\n\n%s\n--b--\n",
		from, to, domain, name, name, base64.StdEncoding.EncodeToString(content)), "\n", "\r\n")
}

// signed returns a mail with the signature of the From domain.
func signed(t testing.TB, raw, domain string) string {
	t.Helper()
	var out bytes.Buffer
	must(t, dkim.Sign(&out, strings.NewReader(raw), &dkim.SignOptions{
		Domain: domain, Selector: "s", Signer: key, HeaderKeys: []string{"From", "To", "Subject", "Date", "Message-ID"},
		HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
	}))
	return out.String()
}

// send sends a mail. The function of the same name in the standard library would refuse the
// self-signed certificate of the server.
func send(server, to, raw string) error {
	c, err := smtp.Dial(server)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the replies to the commands count
	if err := errors.Join(c.Mail("bounces@"+reporter), c.Rcpt(to)); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, raw); err != nil {
		return err
	}
	return errors.Join(w.Close(), c.Quit())
}
