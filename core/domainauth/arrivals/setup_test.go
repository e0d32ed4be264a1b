package arrivals_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
	"github.com/mailhelm/mailhelm/core/domainauth/intake"
	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/storage"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// domain is the domain that reports are about, and addressed is its report address.
const (
	domain    = "example.com"
	mailHosts = "inbox.example.net"
	token     = "abcdefghijklmnopqrstuvwxyz"
	addressed = "dmarc-" + token + "@" + mailHosts
)

// world is an organization with a domain whose reports come by mail, on a real database.
type world struct {
	*domainauthtest.Clock
	t           *testing.T
	db          *storage.DB
	org, id     string
	token       string
	queue       *outage
	stores      *inboundtest.Stores
	intake      *reading
	zone        zone
	reader      *arrivals.Reader
	router      *arrivals.Router
	desk        arrivals.Desk
	destination *arrivals.Destination
	processor   *processing.Processor

	verdicts inbound.Verdicts
}

func newWorld(t *testing.T, db *storage.DB) *world {
	t.Helper()
	return newWorldFor(t, db, token)
}

func newWorldFor(t *testing.T, db *storage.DB, token string) *world {
	t.Helper()
	w := &world{t: t, db: db, org: core.NewID(), id: core.NewID(), token: token, Clock: domainauthtest.NewClock(start), zone: zone{}}
	log := slog.New(slog.DiscardHandler)
	w.stores = inboundtest.NewStores(t, w.Now)
	w.addDomain(w.id, domain, token)
	w.intake = &reading{Reader: intake.New(intake.Config{Store: db.DMARCReports(), Transactor: db, Clock: w.Now})}
	store := db.ReportArrivals()
	w.queue = &outage{Queue: store}
	w.reader = w.newReader(0)
	w.router = arrivals.NewRouter(store, mailHosts, w.Now)
	w.desk = arrivals.Desk{Store: store, Transactor: db, Audit: db.Audit(), Clock: w.Now}
	w.destination = arrivals.NewDestination(store, w.Now, w.reader.Wake, log)
	w.processor = processing.New(processing.Config{
		Queue: db.ReceivedMail(), Stores: w.stores, Transactor: db, Clock: w.Now, Log: log,
		Judge:        func(context.Context, inbound.Envelope, []byte) inbound.Verdicts { return w.verdicts },
		Extract:      func(inbound.Message) inbound.Extracted { return inbound.Extracted{} },
		Observe:      func(processing.Outcome, time.Duration, time.Duration) {},
		Destinations: map[inbound.Kind]inbound.Destination{inbound.ToReports: w.destination},
	})
	return w
}

// newReader returns a reader that extends leases so often.
func (w *world) newReader(extend time.Duration) *arrivals.Reader {
	return arrivals.NewReader(arrivals.ReaderConfig{
		Queue: w.queue, Stores: w.stores, Transactor: w.db, Intake: w.intake, Resolver: func() dmarc.Resolver { return w.zone },
		ExtendEvery: extend, Clock: w.Now, Log: slog.New(slog.DiscardHandler),
	})
}

func (w *world) addDomain(id, name, token string) {
	w.t.Helper()
	_, err := w.db.Writer().ExecContext(w.t.Context(), `
		INSERT INTO domainauth_domains (org_id, id, domain, token, snapshot, measure_at, acknowledgement, created_at) VALUES ($1, $2, $3, $4, '', 0, '', 0)`,
		w.org, id, name, token)
	must(w.t, err)
}

// receive processes a message to the report address.
func (w *world) receive(raw string) {
	w.t.Helper()
	route, refusal, err := w.router.Route(w.t.Context(), "dmarc-"+w.token+"@"+mailHosts)
	must(w.t, err)
	if refusal != inbound.Accepted {
		w.t.Fatalf("the address is refused: %v", refusal)
	}
	w.receiveAs(core.NewID(), raw, route)
}

func (w *world) receiveAs(id, raw string, route inbound.Route) {
	w.t.Helper()
	store, err := w.stores.Of(w.t.Context(), route.OrgID)
	must(w.t, err)
	key, err := store.Add(w.t.Context(), objects.RawKey(route.OrgID, core.NewID()), []byte(raw), "message/rfc822")
	must(w.t, err)
	must(w.t, w.db.ReceivedMail().Add(w.t.Context(), []inbound.Task{{
		OrgID: route.OrgID, StoreID: objects.FilesID, RawKey: key,
		Envelope: inbound.Envelope{ID: id, Sender: "reports@reporter.example", Routes: []inbound.Route{route}, ReceivedAt: w.Now(), Size: int64(len(raw))},
	}}))
	must(w.t, w.processor.Look(w.t.Context()))
	w.processor.Join()
	var waiting int
	must(w.t, w.db.Reader().QueryRowContext(w.t.Context(), `SELECT count(*) FROM received_mail`).Scan(&waiting))
	if waiting > 0 {
		w.t.Fatalf("%d messages wait", waiting)
	}
}

// read reads the files that are due.
func (w *world) read() {
	w.t.Helper()
	must(w.t, w.reader.ReadDue(w.t.Context()))
}

// files returns the files of the organization, newest first.
func (w *world) files() []arrivals.File {
	w.t.Helper()
	files, err := w.desk.Files(w.t.Context(), w.org, arrivals.FileFilter{}, nil, 1000)
	must(w.t, err)
	return files
}

// only returns the only file.
func (w *world) only() arrivals.File {
	w.t.Helper()
	files := w.files()
	if len(files) != 1 {
		w.t.Fatalf("%d files, want one: %+v", len(files), files)
	}
	return files[0]
}

// want checks the only file.
func (w *world) want(state arrivals.State, counts arrivals.Counts, problem string) {
	w.t.Helper()
	f := w.only()
	if f.State != state || f.Counts != counts || !strings.Contains(f.Problem, problem) || (f.Problem == "") != (problem == "") {
		w.t.Errorf("the file is %s with %+v and %q, want %s with %+v and %q", f.State, f.Counts, f.Problem, state, counts, problem)
	}
}

// objects returns how many objects are stored for the organization.
func (w *world) objects() int {
	w.t.Helper()
	store, err := w.stores.Of(w.t.Context(), w.org)
	must(w.t, err)
	keys, _, err := store.List(w.t.Context(), w.org, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), "", 1000)
	must(w.t, err)
	return len(keys)
}

var person = access.ActorOf("00000000-0000-4000-8000-000000000001")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// zone has the TXT records of names; a record "fail" is an error.
type zone map[string]string

func (z zone) TXT(_ context.Context, name string) ([]string, error) {
	switch text := z[name]; text {
	case "":
		return nil, nil
	case "fail":
		return nil, errors.New("no answer")
	default:
		return []string{text}, nil
	}
}

func (z zone) Exists(context.Context, string) (bool, error) { return true, nil }

// reading is the intake of the product, which fails or is interrupted when a test wants it.
type reading struct {
	*intake.Reader
	// fail is the error of the next calls, after they have read the file.
	fail error
	// during is called after a file was read.
	during func(context.Context)
}

func (*reading) ReporterOf(r *report.Report) string { return intake.ReporterOf(r) }

func (x *reading) Read(ctx context.Context, f arrivals.File, domain string, open func() (io.ReadCloser, error)) (arrivals.Found, error) {
	found, err := x.Reader.Read(ctx, intake.Target{OrgID: f.OrgID, Addressed: domain, FileID: f.ID, ReceivedAt: f.ReceivedAt}, open)
	if x.during != nil {
		x.during(ctx)
	}
	if x.fail != nil {
		return arrivals.Found{}, x.fail
	}
	return arrivals.Found{
		Counts:   arrivals.Counts{Reports: found.Reports, Duplicates: found.Duplicates, TLSReports: found.TLSReports, Foreign: found.Foreign},
		Unusable: found.Unusable,
	}, err
}

// messages returns how many messages were counted.
func (w *world) messages() int {
	w.t.Helper()
	days, err := w.db.DomainAuth().Totals(w.t.Context(), w.org, w.id, domainauth.Days{From: start.AddDate(-1, 0, 0), To: start.AddDate(1, 0, 0)})
	must(w.t, err)
	total := 0
	for _, d := range days {
		total += int(d.Both + d.DKIMOnly + d.SPFOnly + d.Failing)
	}
	return total
}

// reportOf returns a report about a domain, with 7 messages.
func reportOf(id, org, email, policyDomain string) string {
	return fmt.Sprintf(`<?xml version="1.0"?><feedback><report_metadata><org_name>%s</org_name><email>%s</email><report_id>%s</report_id>
<date_range><begin>1772236800</begin><end>1772323199</end></date_range></report_metadata>
<policy_published><domain>%s</domain><p>none</p></policy_published>
<record><row><source_ip>192.0.2.1</source_ip><count>7</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row>
<identifiers><header_from>%[4]s</header_from></identifiers></record></feedback>`, org, email, id, policyDomain)
}

// usual is the report of reporter.example.
func usual(id string) string {
	return reportOf(id, "Reporter", "dmarc@reporter.example", domain)
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

// attachment is a part of a message.
type attachment struct {
	name, contentType string
	content           []byte
}

func gz(text string) attachment {
	return attachment{"reporter.example!example.com!1772236800!1772323199.xml.gz", "application/gzip", zipped(text)}
}

// mail returns a message from an address with attachments.
func mail(from string, all ...attachment) string {
	var b strings.Builder
	fmt.Fprintf(&b, "From: Reports <%s>\nTo: %s\nSubject: Report\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nA report.\n", from, addressed)
	for _, a := range all {
		fmt.Fprintf(&b, "--b\nContent-Type: %s; name=%q\nContent-Disposition: attachment; filename=%[2]q\nContent-Transfer-Encoding: base64\n\n%s\n", a.contentType, a.name, base64.StdEncoding.EncodeToString(a.content))
	}
	return strings.ReplaceAll(b.String()+"--b--\n", "\n", "\r\n")
}

// whole returns a message that has one part only.
func whole(from, contentType string, content []byte) string {
	return strings.ReplaceAll(fmt.Sprintf("From: <%s>\nContent-Type: %s\nContent-Transfer-Encoding: base64\n\n%s\n",
		from, contentType, base64.StdEncoding.EncodeToString(content)), "\n", "\r\n")
}
