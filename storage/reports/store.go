package reports

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores report figures per day and per hour.
type Store struct{ db *engine.DB }

var _ reports.Store = Store{}

// New returns the store of report figures on the database.
func New(db *engine.DB) Store { return Store{db} }

// triedToDeliver is an SQL condition on events. It excludes bounces and complaints that the
// sending account's suppression list caused, because no delivery was attempted.
const triedToDeliver = `coalesce(e.bounce_sub_type, '') <> '` + messages.OnAccountList + `'`

var (
	// addMarks inserts marks and returns those that are new. All opens of a message by one
	// recipient have the same mark, and all clicks by that recipient have another. New marks
	// count as unique opens and clicks.
	addMarks = engine.Register("add report marks", `
		INSERT INTO report_marks (org_id, mark)
		SELECT $1, j.atom FROM json_each(CAST($2 AS text)) AS j WHERE TRUE
		ON CONFLICT DO NOTHING
		RETURNING mark`)
	// addCounts adds report figures to the rows of report_days. The caller sorts the rows,
	// so that concurrent transactions lock them in the same order.
	addCounts = engine.Register("add report counts", `
		INSERT INTO report_days (org_id, day, channel, identity, template,
			sent, delivered, bounced, complained, suppressed, opens, unique_opens, clicks, unique_clicks)
		SELECT $1, `+countedValues+`
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT (org_id, day, channel, identity, template) DO UPDATE SET `+addedTo("report_days"))
	addBounces = engine.Register("add bounces by domain", `
		INSERT INTO report_bounce_domains (org_id, day, domain, bounced)
		SELECT $1, CAST(v ->> 'day' AS bigint), v ->> 'domain', CAST(v ->> 'bounced' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT (org_id, day, domain) DO UPDATE SET bounced = report_bounce_domains.bounced + excluded.bounced`)

	// reportByDay and reportByGroup sum the figures of a time window. They read its rows
	// through the primary key, which begins with organization and day.
	reportByDay   = engine.Register("report by day", sumOf("report_days", "day", "day"))
	reportByGroup = engine.Register("report by group", sumOf("report_days", "day", "channel, template"))

	addHours = engine.Register("add report hours", `
		INSERT INTO report_hours (org_id, hour, channel, identity, template,
			sent, delivered, bounced, complained, suppressed, opens, unique_opens, clicks, unique_clicks)
		SELECT $1, `+countedValues+`
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT (org_id, hour, channel, identity, template) DO UPDATE SET `+addedTo("report_hours"))
	reportByHours = engine.Register("report by hours", sumOf("report_hours", "hour", "channel, template"))
	// reportFromEvents counts events of the messages that were sent in the report's time
	// window. It reads these messages first, then the events of each. The LATERAL subquery
	// with its very high limit forces PostgreSQL to this order; with the statistics of an
	// empty table it would read all events. The expression e.type || '' keeps SQLite from
	// finding events by type, which would read all events of the type for each message.
	reportFromEvents = engine.Register("report from events", `
		SELECT channel, template, type, CAST(sum(number) AS bigint) AS events, count(*) AS uniques FROM (
			SELECT e.channel, e.identity, e.template, e.type, e.message_id, e.recipient_key, count(*) AS number
			FROM messages AS m
			CROSS JOIN /*pg LATERAL (SELECT * FROM*/ message_events /*pg AS of_message
				WHERE of_message.org_id = m.org_id AND of_message.message_id = m.id LIMIT 1000000000)*/ AS e
			WHERE m.org_id = $1 AND m.sent_at >= $2 AND m.sent_at < $3 AND e.org_id = $1 AND e.message_id = m.id
			AND NOT e.test AND e.type || '' IN (`+countedTypes+`) AND `+triedToDeliver+`
			AND ($4 = '' OR e.channel = $4) AND ($5 = '' OR e.identity = $5)
			GROUP BY e.channel, e.identity, e.template, e.type, e.message_id, e.recipient_key
		) AS once
		GROUP BY channel, template, type`)
	// anyMessage tests whether a message was sent in the time window. It reads a single
	// entry of the index messages_newest.
	anyMessage = engine.RegisterPoint("any message", `
		SELECT 1 FROM messages WHERE org_id = $1 AND sent_at >= $2 AND sent_at < $3 LIMIT 1`)

	// failingDomains sums bounces by recipient domain, which is the part after the last @.
	// Bounces are stored per day, so the sum of the last day includes messages that were
	// sent after the end of the time window, $3. The second SELECT subtracts these; $4 is
	// the end of that day.
	failingDomains = engine.Register("failing domains", `
		SELECT domain, CAST(sum(number) AS bigint) AS bounced FROM (
			SELECT domain, bounced AS number FROM report_bounce_domains
			WHERE org_id = $1 AND day >= $2 AND day < $3
			UNION ALL
			SELECT lower(substr(e.recipient, length(rtrim(e.recipient, replace(e.recipient, '@', ''))) + 1)), -1
			FROM messages AS m JOIN message_events AS e ON e.org_id = m.org_id AND e.message_id = m.id
			WHERE m.org_id = $1 AND m.sent_at >= $3 AND m.sent_at < $4 AND e.type || '' = 'Bounce' AND NOT e.test
			AND `+triedToDeliver+`
		) AS counted
		GROUP BY domain HAVING sum(number) > 0
		ORDER BY 2 DESC, domain LIMIT $5`)
	// recentBounces selects the latest bounces in the time window. It reads the partial
	// index message_events_bounced backwards from the end of the window.
	recentBounces = engine.Register("recent bounces", `
		SELECT e.occurred_at, e.message_id, e.recipient, coalesce(e.bounce_type, '') AS bounce_type,
			coalesce(e.bounce_sub_type, '') AS bounce_sub_type, e.channel, e.template
		FROM message_events AS e
		WHERE e.org_id = $1 AND e.type = 'Bounce' AND e.occurred_at >= $2 AND e.occurred_at < $3 AND NOT e.test AND `+triedToDeliver+`
		AND EXISTS (SELECT 1 FROM messages AS m WHERE m.org_id = e.org_id AND m.id = e.message_id AND m.sent_at >= $2)
		ORDER BY e.occurred_at DESC, e.id DESC LIMIT $4`)
)

// countedTypes is an SQL list of the event types that reports count.
const countedTypes = `'Send', 'Delivery', 'Bounce', 'Complaint', 'Reject', 'Open', 'Click'`

// countedValues is an SQL list of the values for a row of report figures, without the
// organization. The values are read from the JSON object v, which is a [countedRow].
const countedValues = `CAST(v ->> 'from' AS bigint), v ->> 'channel', v ->> 'identity', v ->> 'template',
			CAST(v ->> 'sent' AS bigint), CAST(v ->> 'delivered' AS bigint), CAST(v ->> 'bounced' AS bigint),
			CAST(v ->> 'complained' AS bigint), CAST(v ->> 'suppressed' AS bigint),
			CAST(v ->> 'opens' AS bigint), CAST(v ->> 'unique_opens' AS bigint),
			CAST(v ->> 'clicks' AS bigint), CAST(v ->> 'unique_clicks' AS bigint)`

// figureColumns lists the columns that count events, in the order of countedValues.
var figureColumns = []string{
	"sent", "delivered", "bounced", "complained", "suppressed", "opens", "unique_opens", "clicks", "unique_clicks",
}

// addedTo returns the assignments for ON CONFLICT of an INSERT. They add the figures of the
// row to be inserted to the figures of the existing row with the same key.
func addedTo(table string) string {
	sums := make([]string, len(figureColumns))
	for i, c := range figureColumns {
		sums[i] = c + ` = ` + table + `.` + c + ` + excluded.` + c
	}
	return strings.Join(sums, ", ")
}

// sumOf returns a query that sums the figures of a table in a time window, grouped by
// columns. time is the name of the table's time column.
func sumOf(table, time, columns string) string {
	sums := make([]string, len(figureColumns))
	for i, c := range figureColumns {
		sums[i] = `CAST(sum(` + c + `) AS bigint) AS ` + c
	}
	return `
		SELECT ` + columns + `, ` + strings.Join(sums, ", ") + `
		FROM ` + table + `
		WHERE org_id = $1 AND ` + time + ` >= $2 AND ` + time + ` < $3
		AND ($4 = '' OR channel = $4) AND ($5 = '' OR identity = $5)
		GROUP BY ` + columns
}

// countedRow is an element of the JSON parameters of addCounts and addHours.
type countedRow struct {
	From     engine.Time `json:"from"`
	Channel  string      `json:"channel"`
	Identity string      `json:"identity"`
	Template string      `json:"template"`
	reports.Counts
}

// bouncesRow is the number of bounces of one domain. It is an element of the JSON parameter
// of addBounces, for one day, and a result row of failingDomains, without Day.
type bouncesRow struct {
	Day     engine.Time `json:"day" db:"-"`
	Domain  string      `json:"domain" db:"domain"`
	Bounced int64       `json:"bounced" db:"bounced"`
}

// sumRow is a result row of a query from sumOf.
type sumRow struct {
	Day          engine.Time `db:"day"`
	Channel      string      `db:"channel"`
	Template     string      `db:"template"`
	Sent         int64       `db:"sent"`
	Delivered    int64       `db:"delivered"`
	Bounced      int64       `db:"bounced"`
	Complained   int64       `db:"complained"`
	Suppressed   int64       `db:"suppressed"`
	Opens        int64       `db:"opens"`
	UniqueOpens  int64       `db:"unique_opens"`
	Clicks       int64       `db:"clicks"`
	UniqueClicks int64       `db:"unique_clicks"`
}

// counts converts the sums.
func (r sumRow) counts() reports.Counts {
	return reports.Counts{
		Sent: r.Sent, Delivered: r.Delivered, Bounced: r.Bounced, Complained: r.Complained, Suppressed: r.Suppressed,
		Opens: r.Opens, UniqueOpens: r.UniqueOpens, Clicks: r.Clicks, UniqueClicks: r.UniqueClicks,
	}
}

// eventsRow counts the events of one type in a group of channel and template. Events is the
// number of all events; Uniques counts each pair of message and recipient once.
type eventsRow struct {
	Channel  string             `db:"channel"`
	Template string             `db:"template"`
	Type     messages.EventType `db:"type"`
	Events   int64              `db:"events"`
	Uniques  int64              `db:"uniques"`
}

// bounceRow is a bounce with the channel and template of its message. Type and SubType are
// "" if the provider did not report them.
type bounceRow struct {
	At        engine.Time `db:"occurred_at"`
	MessageID string      `db:"message_id"`
	Recipient string      `db:"recipient"`
	Type      string      `db:"bounce_type"`
	SubType   string      `db:"bounce_sub_type"`
	Channel   string      `db:"channel"`
	Template  string      `db:"template"`
}

func (s Store) Mark(ctx context.Context, orgID string, marks []string) ([]string, error) {
	parameter, err := engine.JSONParameter(marks)
	if err != nil {
		return nil, err
	}
	return engine.Values[string](ctx, s.db, addMarks, orgID, parameter)
}

func (s Store) CountDays(ctx context.Context, orgID string, counted []reports.Counted) error {
	return s.count(ctx, orgID, addCounts, counted)
}

func (s Store) CountHours(ctx context.Context, orgID string, counted []reports.Counted) error {
	return s.count(ctx, orgID, addHours, counted)
}

// count adds report figures to the rows per day or to those per hour; the statement
// determines which.
func (s Store) count(ctx context.Context, orgID string, statement *engine.Statement, counted []reports.Counted) error {
	rows := make([]countedRow, len(counted))
	for i, c := range counted {
		rows[i] = countedRow{engine.At(c.From), c.Channel, c.Identity, c.Template, c.Counts}
	}
	return engine.ExecRows(ctx, s.db, statement, orgID, rows)
}

func (s Store) CountBounces(ctx context.Context, orgID string, counted []reports.DomainBounces) error {
	rows := make([]bouncesRow, len(counted))
	for i, c := range counted {
		rows[i] = bouncesRow{engine.At(c.Day), c.Domain, c.Bounced}
	}
	return engine.ExecRows(ctx, s.db, addBounces, orgID, rows)
}

func (s Store) DayCounts(ctx context.Context, orgID string, f reports.Filter) ([]reports.DayCounts, error) {
	return engine.ListAs(ctx, s.db, sumRow.dayCounts, reportByDay, orgID, engine.At(f.From), engine.At(f.To), f.Channel, f.Identity)
}

// dayCounts converts the row to a reports.DayCounts.
func (r sumRow) dayCounts() reports.DayCounts {
	return reports.DayCounts{Day: r.Day.Time(), Counts: r.counts()}
}

func (s Store) GroupCounts(ctx context.Context, orgID string, f reports.Filter) ([]reports.GroupCounts, error) {
	return s.groups(ctx, reportByGroup, orgID, f)
}

func (s Store) HourCounts(ctx context.Context, orgID string, f reports.Filter) ([]reports.GroupCounts, error) {
	return s.groups(ctx, reportByHours, orgID, f)
}

// groups returns the figures that the statement sums up for each pair of channel and
// template.
func (s Store) groups(ctx context.Context, statement *engine.Statement, orgID string, f reports.Filter) ([]reports.GroupCounts, error) {
	return engine.ListAs(ctx, s.db, sumRow.groupCounts, statement, orgID, engine.At(f.From), engine.At(f.To), f.Channel, f.Identity)
}

// groupCounts converts the row to a reports.GroupCounts.
func (r sumRow) groupCounts() reports.GroupCounts {
	return reports.GroupCounts{Group: reports.Group{Channel: r.Channel, Template: r.Template}, Counts: r.counts()}
}

func (s Store) AnyMessage(ctx context.Context, orgID string, w core.Window) (bool, error) {
	found, err := engine.Values[int](ctx, s.db, anyMessage, orgID, engine.At(w.From), engine.At(w.To))
	return len(found) > 0, err
}

// FromEvents computes the figures of a report from the stored events of every message that
// was sent in the time window.
func (s Store) FromEvents(ctx context.Context, orgID string, f reports.Filter) ([]reports.GroupCounts, error) {
	return engine.ListAs(ctx, s.db, eventsRow.groupCounts, reportFromEvents, orgID, engine.At(f.From), engine.At(f.To), f.Channel, f.Identity)
}

// groupCounts converts the row to a reports.GroupCounts with the figures of one type.
func (r eventsRow) groupCounts() reports.GroupCounts {
	group := reports.GroupCounts{Group: reports.Group{Channel: r.Channel, Template: r.Template}}
	group.Tally(r.Type, r.Events, r.Uniques)
	return group
}

func (s Store) FailingDomains(ctx context.Context, orgID string, w core.Window, limit int) ([]reports.DomainBounces, error) {
	const day = 24 * time.Hour
	// the end of the day of w.To, or w.To itself if it is midnight
	midnight := w.To.Add(day - time.Microsecond).Truncate(day)
	return engine.ListAs(ctx, s.db, bouncesRow.domainBounces, failingDomains, orgID, engine.At(w.From), engine.At(w.To), engine.At(midnight), limit)
}

// domainBounces converts the row to a reports.DomainBounces.
func (r bouncesRow) domainBounces() reports.DomainBounces {
	return reports.DomainBounces{Domain: r.Domain, Bounced: r.Bounced}
}

func (s Store) RecentBounces(ctx context.Context, orgID string, w core.Window, limit int) ([]reports.Bounce, error) {
	return engine.ListAs(ctx, s.db, bounceRow.bounce, recentBounces, orgID, engine.At(w.From), engine.At(w.To), limit)
}

// bounce converts the row to a reports.Bounce.
func (r bounceRow) bounce() reports.Bounce {
	return reports.Bounce{
		At: r.At.Time(), MessageID: r.MessageID, Recipient: r.Recipient, Type: r.Type, SubType: r.SubType,
		Channel: r.Channel, Template: r.Template,
	}
}
