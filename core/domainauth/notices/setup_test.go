package notices_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth/domainauthtest"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sentmail"
	"github.com/mailhelm/mailhelm/storage"
)

// start is a Wednesday. The first digest is due at monday.
var (
	start  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	monday = time.Date(2026, 3, 9, 6, 0, 0, 0, time.UTC)
)

const domainName = "bakery.example"

// world is an organization with the domain bakery.example, a simulated account, and members.
type world struct {
	*domainauthtest.Clock
	t       testing.TB
	db      *storage.DB
	org     string
	domain  notices.Ref
	account *simulator.Simulator
	notices *notices.Notices

	mu sync.Mutex
	// failure is what the account answers instead of sending, nil for nothing.
	failure error
	sender  string
}

func newWorld(t testing.TB, db *storage.DB) *world {
	t.Helper()
	w := &world{t: t, db: db, org: core.NewID(), Clock: domainauthtest.NewClock(start), sender: "Bakery <no-reply@first.example>"}
	w.must(db.Orgs().InsertOrg(t.Context(), core.Org{ID: w.org, Name: "Bakery", Slug: w.org, Tier: "team", RetentionDays: 30}))
	w.must(db.DomainAuth().AddDomain(t.Context(), w.org, domainName, start))
	d, err := db.DomainAuth().Domain(t.Context(), w.org, domainName)
	w.must(err)
	w.domain = notices.Ref{OrgID: w.org, DomainID: d.ID, Domain: domainName}
	w.account, err = simulator.Open(filepath.Join(t.TempDir(), "account.db"), simulator.Options{Clock: w.Now, KeptMails: 100})
	w.must(err)
	t.Cleanup(func() { w.must(w.account.Close()) })
	w.must(w.account.Seed(t.Context(), w.org, simulator.Setup{
		Account:    &sending.Overview{SendingEnabled: true, Max24HourSend: -1, MaxSendRate: 100},
		Identities: []sending.Identity{{Identity: domainName, Verification: sending.Success}, {Identity: "first.example", Verification: sending.Success}},
	}))
	w.notices = w.process("one")
	return w
}

// process returns the notices of a process.
func (w *world) process(name string) *notices.Notices {
	store := w.db.DomainNotices()
	steps := handover.New(handover.Config{
		Store: w.db.Handover(), Limits: w.db.HandoverLimits(), Transactor: w.db, Account: w, Process: name, Clock: w.Now,
		Rate: func(context.Context, string) (float64, error) { return 0, nil }, Wait: func(context.Context, time.Time) {}, Log: slog.New(slog.DiscardHandler),
	})
	return notices.New(notices.Config{
		Subscriptions: store, Digests: store, Alerts: store, Queue: store, Recipients: w.db.Handover(), Steps: steps, Transactor: w.db, Readers: w, Senders: w,
		PageURL: func(domain string) string { return "https://mail.example/dashboard/domain-auth/" + domain }, Clock: w.Now, Log: slog.New(slog.DiscardHandler),
	})
}

// Send passes a message to the simulated account, unless that fails.
func (w *world) Send(ctx context.Context, orgID string, m sending.Message) (string, error) {
	w.mu.Lock()
	failure := w.failure
	w.mu.Unlock()
	if failure != nil {
		return "", failure
	}
	return w.account.Send(ctx, orgID, m)
}

// SendBulk is not used.
func (w *world) SendBulk(context.Context, string, sending.Bulk) ([]sending.BulkOutcome, error) {
	return nil, errors.ErrUnsupported
}

// Address implements [notices.Readers].
func (w *world) Address(ctx context.Context, orgID, userID string) (string, bool, error) {
	member, err := w.db.Members().Member(ctx, orgID, userID)
	if core.IsNotFound(err) || err == nil && !member.Has(members.MayViewDomainAuth) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	user, err := w.db.Users().UserByID(ctx, userID)
	return user.Email, err == nil, err
}

func (w *world) IsVerified(_ context.Context, _, address string) (bool, error) {
	return strings.HasSuffix(address, "@"+domainName), nil
}

func (w *world) Default(context.Context, string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sender, nil
}

func (w *world) Channel(context.Context, string) (string, error) { return "", nil }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) fails(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = err
}

func (w *world) run() {
	w.t.Helper()
	w.must(w.notices.Run(w.t.Context()))
}

// join adds a member who may see domain authentication, and returns the id.
func (w *world) join(name string) string {
	w.t.Helper()
	id := core.NewID()
	w.must(w.db.Users().InsertUser(w.t.Context(), access.User{ID: id, Email: name + "+" + id + "@people.example", CreatedAt: start}))
	w.must(w.db.Members().SetMember(w.t.Context(), members.Member{OrgID: w.org, UserID: id, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewDomainAuth}}))
	return id
}

func (w *world) desk() notices.Desk {
	return notices.Desk{Store: w.db.DomainNotices(), Transactor: w.db, Audit: w.db.Audit(), Clock: w.Now}
}

func (w *world) choose(userID string, c notices.Choice) {
	w.t.Helper()
	w.must(w.desk().Choose(w.t.Context(), access.ActorOf(userID), w.domain, c))
}

// mails returns the mails that the account took, the oldest first.
func (w *world) mails() []sentmail.Mail {
	w.t.Helper()
	found, _, err := w.account.Mails(w.t.Context(), w.org, sentmail.Query{})
	w.must(err)
	var all []sentmail.Mail
	for _, s := range slices.Backward(found) {
		m, err := w.account.Mail(w.t.Context(), w.org, s.ID)
		w.must(err)
		all = append(all, m)
	}
	return all
}

// sent expects the mails that the account took so far, as the name in the address of the
// recipient and the subject.
func (w *world) sent(want ...string) {
	w.t.Helper()
	var found []string
	for _, m := range w.mails() {
		name, _, _ := strings.Cut(m.Recipients[0], "+")
		found = append(found, name+": "+m.Subject)
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		w.t.Errorf("mails:\n%s\nwant:\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}

// exec runs SQL of a test.
func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.Writer().ExecContext(w.t.Context(), query, args...)
	w.must(err)
}

// day returns the number of the UTC day, n days after the start.
func day(n int) int64 { return start.AddDate(0, 0, n).Unix() / (24 * 60 * 60) }

// source adds a source that was seen on a day for the first time.
func (w *world) source(name, classification, decision string, first int) string {
	w.t.Helper()
	id := core.NewID()
	w.exec(`INSERT INTO domainauth_sources (org_id, domain_id, id, key, name, provider, classification, support, decision, decided_by, first_day, last_day, sample_ips)
		VALUES ($1, $2, $3, $4, $5, '', $6, '{}', $7, '', $8, $9, '[]')`, w.org, w.domain.DomainID, id, id, name, classification, decision, day(first), day(30))
	return id
}

// finding adds a finding about a source that opened on a day.
func (w *world) finding(source, code, detail string, opened int) {
	w.t.Helper()
	w.exec(`INSERT INTO domainauth_findings (org_id, domain_id, source, code, opened_day, closed_day, detail, announced) VALUES ($1, $2, $3, $4, $5, NULL, $6, FALSE)`,
		w.org, w.domain.DomainID, source, code, day(opened), detail)
}

// closeFinding closes the finding about a source on a day.
func (w *world) closeFinding(source string, closed int) {
	w.t.Helper()
	w.exec(`UPDATE domainauth_findings SET closed_day = $1 WHERE org_id = $2 AND source = $3`, day(closed), w.org, source)
}

// figures adds messages of a source on a day: passed, failed and delivered, failed and refused.
func (w *world) figures(source string, n int, passed, failed, refused int64) {
	w.t.Helper()
	const columns = `none_both, none_dkim, none_spf, none_fail, none_relayed, quarantine_both, quarantine_dkim, quarantine_spf, quarantine_fail,
		quarantine_relayed, reject_both, reject_dkim, reject_spf, reject_fail, reject_relayed`
	w.exec(`INSERT INTO domainauth_daily (org_id, domain_id, day, source, `+columns+`)
		VALUES ($1, $2, $3, $4, $5, 0, 0, $6, 0, 0, 0, 0, 0, 0, 0, 0, 0, $7, 0)`, w.org, w.domain.DomainID, day(n), source, passed, failed, refused)
	w.exec(`INSERT INTO domainauth_totals (org_id, domain_id, day, `+columns+`)
		VALUES ($1, $2, $3, $4, 0, 0, $5, 0, 0, 0, 0, 0, 0, 0, 0, 0, $6, 0)
		ON CONFLICT (org_id, domain_id, day) DO UPDATE SET none_both = domainauth_totals.none_both + excluded.none_both,
			none_fail = domainauth_totals.none_fail + excluded.none_fail, reject_fail = domainauth_totals.reject_fail + excluded.reject_fail`,
		w.org, w.domain.DomainID, day(n), passed, failed, refused)
}

// change adds an event of a changed record.
func (w *world) change(title string, at time.Time) {
	w.t.Helper()
	w.exec(`INSERT INTO domainauth_events (org_id, id, domain_id, kind, origin, subject, occurred_at, observed_at, sightings, title, note, actor)
		VALUES ($1, $2, $3, 'policy_change', 'dns', '', $4, $4, 1, $5, '', '')`, w.org, core.NewID(), w.domain.DomainID, at.UnixMicro(), title)
}

// count returns the number of rows of a table of the organization that a condition selects.
func (w *world) count(table, condition string) int {
	w.t.Helper()
	var n int
	w.must(w.db.Reader().QueryRowContext(w.t.Context(), fmt.Sprintf("SELECT count(*) FROM %s WHERE org_id = $1 AND %s", table, condition), w.org).Scan(&n))
	return n
}
