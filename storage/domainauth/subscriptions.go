package domainauth

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Subscriptions stores what members are mailed about domains, and the mails until they are sent.
type Subscriptions struct{ db *engine.DB }

var (
	_ notices.SubscriptionStore = Subscriptions{}
	_ notices.DigestStore       = Subscriptions{}
	_ notices.AlertStore        = Subscriptions{}
	_ notices.NoticeStore       = Subscriptions{}
)

// NewSubscriptions returns the store of package notices on the database.
func NewSubscriptions(db *engine.DB) Subscriptions { return Subscriptions{db} }

// noticeDays is the number of days for which a mail that has ended is known.
const noticeDays = 30

const findingOfSource = `f.source, s.name, s.classification, s.decision, f.code, f.detail, f.opened_day, f.closed_day FROM domainauth_findings AS f
		JOIN domainauth_sources AS s ON s.org_id = f.org_id AND s.domain_id = f.domain_id AND s.id = f.source`

var (
	subscriptionOf = engine.RegisterPoint("subscription to a domain", `
		SELECT alerts, digest_at FROM domainauth_subscriptions WHERE org_id = $1 AND domain_id = $2 AND user_id = $3`)
	saveSubscription = engine.Register("save subscription to a domain", `
		INSERT INTO domainauth_subscriptions (org_id, domain_id, user_id, alerts, digest_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, domain_id, user_id) DO UPDATE SET alerts = excluded.alerts, digest_at = excluded.digest_at`)
	deleteSubscription = engine.Register("delete subscription to a domain", `
		DELETE FROM domainauth_subscriptions WHERE org_id = $1 AND domain_id = $2 AND user_id = $3`)
	subscribersOfDomain = engine.Register("members with alerts about a domain", `
		SELECT user_id FROM domainauth_subscriptions WHERE org_id = $1 AND domain_id = $2 AND alerts ORDER BY user_id`)

	dueDigests = engine.Register("digests that are due", `
		SELECT s.org_id, s.domain_id, d.domain, s.user_id, s.digest_at FROM domainauth_subscriptions AS s
		JOIN domainauth_domains AS d ON d.org_id = s.org_id AND d.id = s.domain_id
		WHERE s.digest_at <= $1 AND `+engine.NotDeleted("s.org_id")+` ORDER BY s.digest_at, s.org_id, s.domain_id, s.user_id LIMIT $2`)
	moveDigest = engine.Register("move digest", `
		UPDATE domainauth_subscriptions SET digest_at = $1 WHERE org_id = $2 AND domain_id = $3 AND user_id = $4 AND digest_at = $5`)
	weekTotals = engine.Register("messages of a domain in a week", `
		SELECT COALESCE(`+total(sumMessages)+`, 0) AS messages, COALESCE(`+total(sumAligned)+`, 0) AS passing,
			COALESCE(`+total(sumOf([]string{"quarantine", "reject"}, outcomes))+`, 0) AS stopped
		FROM domainauth_totals WHERE org_id = $1 AND domain_id = $2 AND day >= $3 AND day < $4`)
	weekUnreviewed = engine.Register("sources without a decision since a day", `
		SELECT count(*) FROM domainauth_sources WHERE org_id = $1 AND domain_id = $2 AND decision = 'unreviewed' AND last_day >= $3`)
	weekSenders = engine.Register("failing sources without a decision in a week", `
		SELECT s.name, s.classification, s.first_day, w.messages, w.failing FROM (
			SELECT source, `+total(sumMessages)+` AS messages, `+total("("+sumFail+" + "+sumRelayed+")")+` AS failing FROM domainauth_daily
			WHERE org_id = $1 AND domain_id = $2 AND day >= $3 AND day < $4 GROUP BY source) AS w
		JOIN domainauth_sources AS s ON s.org_id = $1 AND s.domain_id = $2 AND s.id = w.source
		WHERE w.failing > 0 AND s.decision = 'unreviewed' ORDER BY w.failing DESC, w.messages DESC, s.id LIMIT $5`)
	weekFindings = engine.Register("findings that opened or closed in a week", `
		SELECT `+findingOfSource+`
		WHERE f.org_id = $1 AND f.domain_id = $2 AND (f.opened_day >= $3 AND f.opened_day < $4 OR f.closed_day >= $3 AND f.closed_day < $4)
		ORDER BY f.opened_day, f.source, f.code LIMIT $5`)
	weekChanges = engine.Register("changes of records in a week", `
		SELECT occurred_at, title FROM domainauth_events
		WHERE org_id = $1 AND domain_id = $2 AND kind IN ('policy_change', 'setup_change') AND occurred_at >= $3 AND occurred_at < $4
		ORDER BY occurred_at, id LIMIT $5`)

	domainsWithNews = engine.Register("domains with findings to announce", `
		SELECT d.org_id, d.id, d.domain FROM domainauth_domains AS d
		JOIN (SELECT DISTINCT org_id, domain_id FROM domainauth_findings WHERE NOT announced) AS f ON f.org_id = d.org_id AND f.domain_id = d.id
		WHERE NOT EXISTS (SELECT 1 FROM domainauth_notices AS n WHERE n.org_id = d.org_id AND n.domain_id = d.id AND n.kind = 'alert' AND n.day = $1)
			AND `+engine.NotDeleted("d.org_id")+`
		ORDER BY d.org_id, d.id LIMIT $2`)
	// lockNews locks the domain on PostgreSQL. SQLite has one writer at a time.
	lockNews = engine.Register("lock findings to announce", `
		SELECT id FROM domainauth_domains WHERE org_id = $1 AND id = $2 AND (refresh_at IS NULL OR refreshed_at IS NULL OR refreshed_at <= $3) /*pg FOR UPDATE*/`)
	newsOfDomain = engine.Register("findings to announce", `
		SELECT `+findingOfSource+`
		WHERE f.org_id = $1 AND f.domain_id = $2 AND NOT f.announced ORDER BY f.opened_day, f.source, f.code`)
	announceFindings = engine.Register("announce findings", `
		UPDATE domainauth_findings SET announced = TRUE WHERE org_id = $1 AND domain_id = $2 AND NOT announced`)
	alertsOnDay = engine.Register("alerts about a domain on a day", `
		SELECT count(*) FROM domainauth_notices WHERE org_id = $1 AND domain_id = $2 AND kind = 'alert' AND day = $3`)

	addNotice = engine.Register("add mail about a domain", `
		INSERT INTO domainauth_notices (org_id, id, domain_id, user_id, kind, day, subject, plain, html, attempts, due_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10, $11) ON CONFLICT DO NOTHING`)
	forgetNotices = engine.Register("forget mails about a domain", `
		DELETE FROM domainauth_notices WHERE org_id = $1 AND domain_id = $2 AND user_id = $3 AND day < $4 AND due_at IS NULL`)
	dueNotices = engine.Register("mails about domains that are due", `
		SELECT org_id, id FROM domainauth_notices WHERE due_at <= $1 AND `+engine.NotDeleted("org_id")+` ORDER BY due_at, id LIMIT $2`)
	openNotice = engine.RegisterPoint("open mail about a domain", `
		SELECT n.id, n.org_id, n.domain_id, d.domain, n.user_id, n.kind, n.day, n.subject, n.plain, n.html, n.attempts, n.created_at FROM domainauth_notices AS n
		JOIN domainauth_domains AS d ON d.org_id = n.org_id AND d.id = n.domain_id
		WHERE n.org_id = $1 AND n.id = $2 AND n.due_at IS NOT NULL`)
	postponeNotice = engine.Register("postpone mail about a domain", `
		UPDATE domainauth_notices SET attempts = $1, due_at = $2 WHERE org_id = $3 AND id = $4 AND due_at IS NOT NULL`)
	endNotice = engine.Register("end mail about a domain", `
		UPDATE domainauth_notices SET due_at = NULL, subject = '', plain = '', html = '' WHERE org_id = $1 AND id = $2`)
)

// subscriptionRow is a row of domainauth_subscriptions.
type subscriptionRow struct {
	Alerts   bool         `db:"alerts"`
	DigestAt *engine.Time `db:"digest_at"`
}

// Subscription implements [notices.SubscriptionStore].
func (s Subscriptions) Subscription(ctx context.Context, orgID, domainID, userID string) (notices.Subscription, error) {
	row, err := engine.One[subscriptionRow](ctx, s.db, "subscription", subscriptionOf, orgID, domainID, userID)
	if core.IsNotFound(err) {
		return notices.Subscription{}, nil
	}
	return notices.Subscription{Alerts: row.Alerts, DigestAt: engine.OptionalTime(row.DigestAt)}, err
}

// SaveSubscription implements [notices.SubscriptionStore].
func (s Subscriptions) SaveSubscription(ctx context.Context, orgID, domainID, userID string, to notices.Subscription) error {
	if to == (notices.Subscription{}) {
		_, err := s.db.Exec(ctx, deleteSubscription, orgID, domainID, userID)
		return err
	}
	_, err := s.db.Exec(ctx, saveSubscription, orgID, domainID, userID, to.Alerts, engine.OptionalAt(to.DigestAt))
	return err
}

// Subscribers implements [notices.AlertStore].
func (s Subscriptions) Subscribers(ctx context.Context, d notices.Ref) ([]string, error) {
	return engine.Values[string](ctx, s.db, subscribersOfDomain, d.OrgID, d.DomainID)
}

// dueRow is a digest that is due.
type dueRow struct {
	OrgID    string      `db:"org_id"`
	DomainID string      `db:"domain_id"`
	Domain   string      `db:"domain"`
	UserID   string      `db:"user_id"`
	At       engine.Time `db:"digest_at"`
}

func (r dueRow) due() notices.Due {
	return notices.Due{Ref: notices.Ref{OrgID: r.OrgID, DomainID: r.DomainID, Domain: r.Domain}, UserID: r.UserID, At: r.At.Time()}
}

// DueDigests implements [notices.DigestStore].
func (s Subscriptions) DueDigests(ctx context.Context, now time.Time, limit int) ([]notices.Due, error) {
	return engine.ListAs(ctx, s.db, dueRow.due, dueDigests, engine.At(now), limit)
}

// MoveDigest implements [notices.DigestStore].
func (s Subscriptions) MoveDigest(ctx context.Context, d notices.Due, next time.Time) (bool, error) {
	n, err := s.db.Exec(ctx, moveDigest, engine.At(next), d.OrgID, d.DomainID, d.UserID, engine.At(d.At))
	return n > 0, err
}

// weekRow has the messages of a week.
type weekRow struct {
	Messages int64 `db:"messages"`
	Passing  int64 `db:"passing"`
	Stopped  int64 `db:"stopped"`
}

// senderRow is a source with its messages in a week.
type senderRow struct {
	Name           string                 `db:"name"`
	Classification figures.Classification `db:"classification"`
	FirstDay       int64                  `db:"first_day"`
	Messages       int64                  `db:"messages"`
	Failing        int64                  `db:"failing"`
}

func (r senderRow) sender() notices.Sender {
	return notices.Sender{Name: r.Name, Classification: r.Classification, FirstDay: dayTime(r.FirstDay), Messages: r.Messages, Failing: r.Failing}
}

// namedFinding is a finding with its source.
type namedFinding struct {
	Source         string                 `db:"source"`
	Name           string                 `db:"name"`
	Classification figures.Classification `db:"classification"`
	Decision       figures.Decision       `db:"decision"`
	Code           sources.Code           `db:"code"`
	Detail         string                 `db:"detail"`
	Opened         int64                  `db:"opened_day"`
	Closed         *int64                 `db:"closed_day"`
}

func (r namedFinding) finding() notices.Finding {
	f := notices.Finding{Source: r.Source, Name: r.Name, Classification: r.Classification, Decision: r.Decision}
	f.Code, f.Detail, f.OpenedAt = r.Code, r.Detail, dayTime(r.Opened)
	if r.Closed != nil {
		f.ClosedAt = dayTime(*r.Closed)
	}
	return f
}

// recordChange is a change of a record.
type recordChange struct {
	At    engine.Time `db:"occurred_at"`
	Title string      `db:"title"`
}

func (r recordChange) change() notices.Change { return notices.Change{At: r.At.Time(), Title: r.Title} }

// Week implements [notices.DigestStore].
func (s Subscriptions) Week(ctx context.Context, d notices.Ref, from, to time.Time) (notices.Week, error) {
	first, last := dayNumber(from), dayNumber(to)
	sums, err := engine.One[weekRow](ctx, s.db, "week", weekTotals, d.OrgID, d.DomainID, first, last)
	week := notices.Week{Messages: sums.Messages, Passing: sums.Passing, Stopped: sums.Stopped}
	if err != nil {
		return week, err
	}
	if week.Unreviewed, err = count(ctx, s.db, weekUnreviewed, d.OrgID, d.DomainID, first); err != nil {
		return week, err
	}
	if week.Senders, err = engine.ListAs(ctx, s.db, senderRow.sender, weekSenders, d.OrgID, d.DomainID, first, last, notices.MaxSenders); err != nil {
		return week, err
	}
	if week.Findings, err = engine.ListAs(ctx, s.db, namedFinding.finding, weekFindings, d.OrgID, d.DomainID, first, last, 2*notices.MaxFindings); err != nil {
		return week, err
	}
	week.Changes, err = engine.ListAs(ctx, s.db, recordChange.change, weekChanges, d.OrgID, d.DomainID, engine.At(from), engine.At(to), notices.MaxChanges)
	return week, err
}

// DomainsWithNews implements [notices.AlertStore].
func (s Subscriptions) DomainsWithNews(ctx context.Context, day time.Time, limit int) ([]notices.Ref, error) {
	return engine.ListAs(ctx, s.db, func(r refRow) notices.Ref {
		return notices.Ref{OrgID: r.OrgID, DomainID: r.ID, Domain: r.Domain}
	}, domainsWithNews, dayNumber(day), limit)
}

// LockNews implements [notices.AlertStore].
func (s Subscriptions) LockNews(ctx context.Context, d notices.Ref, begunAfter time.Time) (bool, error) {
	found, err := engine.Values[string](ctx, s.db, lockNews, d.OrgID, d.DomainID, engine.At(begunAfter))
	return len(found) > 0, err
}

// News implements [notices.AlertStore].
func (s Subscriptions) News(ctx context.Context, d notices.Ref) ([]notices.Finding, error) {
	return engine.ListAs(ctx, s.db, namedFinding.finding, newsOfDomain, d.OrgID, d.DomainID)
}

// Announce implements [notices.AlertStore].
func (s Subscriptions) Announce(ctx context.Context, d notices.Ref) error {
	_, err := s.db.Exec(ctx, announceFindings, d.OrgID, d.DomainID)
	return err
}

// AlertedOn implements [notices.AlertStore].
func (s Subscriptions) AlertedOn(ctx context.Context, d notices.Ref, day time.Time) (bool, error) {
	n, err := count(ctx, s.db, alertsOnDay, d.OrgID, d.DomainID, dayNumber(day))
	return n > 0, err
}

// AddNotice implements [notices.NoticeStore].
func (s Subscriptions) AddNotice(ctx context.Context, n notices.Notice) (bool, error) {
	day := dayNumber(n.Day)
	if _, err := s.db.Exec(ctx, forgetNotices, n.OrgID, n.DomainID, n.UserID, day-noticeDays); err != nil {
		return false, err
	}
	at := engine.At(n.CreatedAt)
	added, err := s.db.Exec(ctx, addNotice, n.OrgID, n.ID, n.DomainID, n.UserID, string(n.Kind), day, n.Subject, n.Text, n.HTML, at, at)
	return added > 0, err
}

// noticeKey names a mail.
type noticeKey struct {
	OrgID string `db:"org_id"`
	ID    string `db:"id"`
}

func (r noticeKey) ref() notices.NoticeRef { return notices.NoticeRef{OrgID: r.OrgID, ID: r.ID} }

// DueNotices implements [notices.NoticeStore].
func (s Subscriptions) DueNotices(ctx context.Context, now time.Time, limit int) ([]notices.NoticeRef, error) {
	return engine.ListAs(ctx, s.db, noticeKey.ref, dueNotices, engine.At(now), limit)
}

// noticeRow is a row of domainauth_notices with its domain.
type noticeRow struct {
	ID        string       `db:"id"`
	OrgID     string       `db:"org_id"`
	DomainID  string       `db:"domain_id"`
	Domain    string       `db:"domain"`
	UserID    string       `db:"user_id"`
	Kind      notices.Kind `db:"kind"`
	Day       int64        `db:"day"`
	Subject   string       `db:"subject"`
	Text      string       `db:"plain"`
	HTML      string       `db:"html"`
	Attempts  int          `db:"attempts"`
	CreatedAt engine.Time  `db:"created_at"`
}

// Notice implements [notices.NoticeStore].
func (s Subscriptions) Notice(ctx context.Context, ref notices.NoticeRef) (notices.Notice, error) {
	r, err := engine.One[noticeRow](ctx, s.db, "mail about a domain", openNotice, ref.OrgID, ref.ID)
	return notices.Notice{
		ID: r.ID, Ref: notices.Ref{OrgID: r.OrgID, DomainID: r.DomainID, Domain: r.Domain}, UserID: r.UserID, Kind: r.Kind, Day: dayTime(r.Day),
		Subject: r.Subject, Text: r.Text, HTML: r.HTML, Attempts: r.Attempts, CreatedAt: r.CreatedAt.Time(),
	}, err
}

// Postpone implements [notices.NoticeStore].
func (s Subscriptions) Postpone(ctx context.Context, r notices.NoticeRef, attempts int, until time.Time) error {
	_, err := s.db.Exec(ctx, postponeNotice, attempts, engine.At(until), r.OrgID, r.ID)
	return err
}

// EndNotice implements [notices.NoticeStore].
func (s Subscriptions) EndNotice(ctx context.Context, r notices.NoticeRef) error {
	_, err := s.db.Exec(ctx, endNotice, r.OrgID, r.ID)
	return err
}
