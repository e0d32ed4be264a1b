package messages

import (
	"context"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// messageWay is a way to read a page of messages: through one index, newest first, from the
// cursor to the limit of the page. A filter that cannot use that index is compared row by
// row.
//
// Each filter except identity has an index that ends in time and id. A page without filters
// has such an index, too. One statement for all filters, set or unset, would use none of
// these indexes, so each way has its own statements. A page uses the way that usually
// leaves the fewest rows to compare.
type messageWay struct {
	name string
	// rows is the FROM clause of the statements; r is the alias of the table with the index.
	rows, r string
	// by is the column of the filter whose index this way reads, or "" for the index on time
	// alone.
	by  string
	key func(messages.Filter) string
	// noIndex is true for a filter that has no index. Statements that use the index of
	// another filter compare this filter with each row that they read.
	noIndex bool
	// page is the statement that reads a page of messages through this index. count is the
	// one that counts all matching messages, up to a limit.
	page, count *engine.Statement
}

// messageWays lists the ways to read a page, the most selective filter first. A status that
// most messages have is less selective than a channel. The last way has no filter, so it
// always applies.
var messageWays = []messageWay{
	{name: "recipient", rows: `message_recipients AS r JOIN messages AS m ON m.org_id = r.org_id AND m.id = r.message_id AND m.sent_at = r.sent_at`, r: "r", by: "recipient", key: func(f messages.Filter) string { return f.Recipient }},
	{name: "rare status", rows: `messages AS m`, r: "m", by: "status", key: rareStatus},
	{name: "template", rows: `messages AS m`, r: "m", by: "template", key: func(f messages.Filter) string { return f.Template }},
	{name: "channel", rows: `messages AS m`, r: "m", by: "channel", key: func(f messages.Filter) string { return f.Channel }},
	{name: "identity", by: "identity", noIndex: true, key: func(f messages.Filter) string { return f.Identity }},
	{name: "status", rows: `messages AS m`, r: "m", by: "status", key: func(f messages.Filter) string { return string(f.Status) }},
	{name: "time", rows: `messages AS m`, r: "m", key: func(messages.Filter) string { return "" }},
}

const messageColumns = `m.id, m.sender, m.recipient, m.identity, m.sent_at, m.status, m.last_event_at, m.channel, m.subject, m.template, m.test`

// rareStatus returns the status that the filter selects. It returns "" if the filter has no
// status, or a status that many messages have.
func rareStatus(f messages.Filter) string {
	switch f.Status {
	case messages.Bounce, messages.Complaint, messages.Reject, messages.DeliveryDelay, messages.RenderingFailure:
		return string(f.Status)
	}
	return ""
}

func init() {
	for i := range messageWays {
		way := &messageWays[i]
		if way.noIndex {
			continue
		}
		matching, next := way.statementTail()
		walk := matching + ` ORDER BY ` + strings.ReplaceAll(way.place(), `,`, ` DESC,`) + ` DESC LIMIT $` + strconv.Itoa(next)
		way.page = engine.Register("messages by "+way.name, `
		SELECT `+messageColumns+walk)
		// The subquery selects the column rank, which no index contains, so SQLite must read
		// the table rows. Without such a column, SQLite would prefer any index that contains
		// all needed columns, even one that does not suit the filter.
		way.count = engine.Register("count messages by "+way.name, `
		SELECT count(*) FROM (SELECT m.rank AS one`+walk+`) AS found`)
	}
}

// place returns the columns by which the page is sorted. In the index that the page uses,
// these columns come after the organization.
func (w messageWay) place() string {
	switch {
	case w.by == "":
		return `m.sent_at, m.id`
	case w.r == "r":
		return `r.recipient, r.sent_at, r.message_id`
	}
	return `m.` + w.by + `, m.sent_at, m.id`
}

// statementTail returns the part of the statements from FROM to the end of WHERE, and the
// number of the next parameter.
//
// The start of the filter's time window is the lower bound of the index range. The cursor,
// or the end of the time window, is the upper bound. If w.by is set, each bound also
// contains the value of that column, and is compared as one row value. SQLite has no
// statistics, and these comparisons leave it no other index to choose. The casts have no
// effect on the result; they avoid PostgreSQL's bad estimates for row values.
func (w messageWay) statementTail() (string, int) {
	text := ` FROM ` + w.rows + ` WHERE ` + w.r + `.org_id = $1`
	next := 5
	if w.by == "" {
		text += ` AND m.sent_at >= $2 AND (` + w.place() + `) < ($3, $4)`
	} else {
		by := w.r + `.` + w.by
		at := w.r + `.sent_at`
		text += ` AND CAST(` + by + ` AS text) = $2 AND CAST(` + at + ` AS bigint) >= $3 AND CAST(` + at + ` AS bigint) <= $4
			AND (` + by + `, ` + at + `) >= ($2, $3) AND (` + w.place() + `) < ($2, $4, $5)`
		next++
	}
	for _, other := range w.others() {
		parameter := `$` + strconv.Itoa(next)
		text += ` AND (CAST(` + parameter + ` AS text) = '' OR m.` + other.by + ` = ` + parameter + `)`
		next++
	}
	return text, next
}

// others returns the ways whose filters this way compares row by row. These are the later
// elements of messageWays and the elements without an index. An earlier element with an
// index is not among them: if its filter were set, the page would use that way.
func (w messageWay) others() []messageWay {
	var found []messageWay
	behind := false
	for _, other := range messageWays {
		if (behind || other.noIndex) && other.by != "" && other.by != w.by {
			found = append(found, other)
		}
		behind = behind || other.name == w.name
	}
	return found
}

// indexOf returns the way to read a page of messages that match f. It is the first element
// of messageWays that has an index and whose filter is set in f. If there is none, it is
// the element that reads without a filter.
func indexOf(f messages.Filter) messageWay {
	for _, way := range messageWays {
		if way.by == "" || way.key(f) != "" && !way.noIndex {
			return way
		}
	}
	return messageWay{}
}

// arguments returns the arguments for the statements in the fields page and count.
func (w messageWay) arguments(orgID string, f messages.Filter) []any {
	at, id := placeOf(f)
	args := []any{orgID}
	if w.by != "" {
		args = append(args, w.key(f))
	}
	args = append(args, engine.At(f.From), at, id)
	for _, other := range w.others() {
		args = append(args, other.key(f))
	}
	return append(args, f.Limit)
}

// placeOf returns the time and id before which a page of messages begins: the cursor, or
// the end of the filter's time window if that is earlier.
func placeOf(f messages.Filter) (engine.Time, string) {
	if f.After != nil && f.After.At.Before(f.To) {
		return engine.At(f.After.At), f.After.ID
	}
	return engine.At(f.To), ""
}

// wayOf returns the statements for a filter, one that reads a page of messages and one that
// counts them, and the arguments of these statements. The statements use the index by kind
// (channel, identity, template and status together) or an index on one column.
func (s Store) wayOf(ctx context.Context, orgID string, f messages.Filter) (messageWay, []any, error) {
	byKinds, err := s.goesByKinds(ctx, orgID, f)
	if err != nil {
		return messageWay{}, nil, err
	}
	if byKinds {
		return messageWay{page: messagesByKinds, count: countByKinds}, byKindsArguments(orgID, f), nil
	}
	way := indexOf(f)
	return way, way.arguments(orgID, f), nil
}

func (s Store) Messages(ctx context.Context, orgID string, f messages.Filter) ([]messages.Message, error) {
	way, args, err := s.wayOf(ctx, orgID, f)
	if err != nil {
		return nil, err
	}
	return engine.ListAs(ctx, s.db, messageRow.message, way.page, args...)
}

func (s Store) CountMessages(ctx context.Context, orgID string, f messages.Filter) (int, error) {
	f.After = nil
	way, args, err := s.wayOf(ctx, orgID, f)
	if err != nil {
		return 0, err
	}
	counts, err := engine.Values[int](ctx, s.db, way.count, args...)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
