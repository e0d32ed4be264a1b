package messages

import (
	"context"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// messageWay is a way to read a page of messages: a walk along one index. Each filter
// but the identity has an index that ends in time and id, as does the page without
// filters. A walk serves a page by at most one filter, by a recipient, or by filters
// that too many kinds of messages match. It reads newest first, from the start of the
// page to its limit, and compares other filters row by row. A single statement for all
// filters, set or not, would use none of these indexes, so each way has its own. The way
// that usually leaves the fewest rows is chosen.
type messageWay struct {
	name string
	// rows is the FROM clause of the walk, and r the name of the rows in it.
	rows, r string
	// by is the column of the index, "" for the index on time alone.
	by  string
	key func(messages.Filter) string
	// noIndex is true for a filter without an index, which other ways compare row by
	// row.
	noIndex bool
	// page and count are the statements of this way.
	page, count *engine.Statement
}

// messageWays lists the ways from the most selective to the least. A status that most
// messages have is less selective than a channel or an identity. The last way always
// applies.
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

// rareStatus returns the status of the filter, "" if most messages have it.
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
		// The rank is in no index, so SQLite does not walk one that has all other columns.
		way.count = engine.Register("count messages by "+way.name, `
		SELECT count(*) FROM (SELECT m.rank AS one`+walk+`) AS found`)
	}
}

// place returns the columns that give a row's position in the index, after the
// organization.
func (w messageWay) place() string {
	switch {
	case w.by == "":
		return `m.sent_at, m.id`
	case w.r == "r":
		return `r.recipient, r.sent_at, r.message_id`
	}
	return `m.` + w.by + `, m.sent_at, m.id`
}

// statementTail returns the statement between its columns and its order, and the number of
// the next parameter. The window and the column of the index form two bounds, each
// compared as one row value. SQLite, which has no statistics, then has no other index to
// choose. The casts affect only PostgreSQL, where a cast to a column's own type does
// nothing: they avoid its bad estimates for bounds of row values. The upper bound is the
// position where the page starts, or the end of the window.
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

// others returns the ways whose filters this way compares row by row. They are those
// after it, because an earlier one would have been chosen, and those without an index.
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

// indexOf returns the way to use among those that walk one index.
func indexOf(f messages.Filter) messageWay {
	for _, way := range messageWays {
		if way.by == "" || way.key(f) != "" && !way.noIndex {
			return way
		}
	}
	return messageWay{}
}

// arguments returns the arguments of both statements of the way.
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

// placeOf returns the exclusive upper bound of the rows of a page: the end of the
// previous page, or of the window.
func placeOf(f messages.Filter) (engine.Time, string) {
	if f.After != nil && f.After.At.Before(f.To) {
		return engine.At(f.After.At), f.After.ID
	}
	return engine.At(f.To), ""
}

// wayOf returns the way that answers a filter, with the arguments of its statements.
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
	rows, err := engine.List[messageRow](ctx, s.db, way.page, args...)
	if err != nil {
		return nil, err
	}
	found := make([]messages.Message, len(rows))
	for i, row := range rows {
		found[i] = row.message()
	}
	return found, nil
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
