package messages

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// A kind is a combination of channel, identity (sender domain), template and status that
// messages have. One index holds the messages of each kind, newest first. A filter by two
// of the four columns reads that index once for each matching kind, and so reads only
// matching messages. An index on one column cannot guarantee that.

// spanLength is the period that a row of message_kinds covers; the SQL schema has the same
// value. A purge deletes a row only when its whole period is older than the retention. So
// it never deletes a row that a message recorded during the purge needs.
const spanLength = 30 * 24 * time.Hour

// maxKinds is the maximum number of kinds (combinations of channel, identity, template and
// status) that are read for one page of messages. Each kind costs about 10 µs. If a filter
// matches more kinds, the messages are read through an index on one column instead, and
// those that do not match are skipped. Usually few are skipped, because many messages
// match.
const maxKinds = 2000

// spanOf returns the number of the period of length spanLength that contains the time.
func spanOf(at engine.Time) int64 { return int64(at) / spanLength.Microseconds() }

const (
	// kindsThatFit selects the kinds (combinations of channel, identity, template and
	// status) that match the filter. Its parameters are the organization, the first and last
	// period, and the four filters.
	kindsThatFit = `SELECT DISTINCT channel, identity, template, status FROM message_kinds
		WHERE org_id = $1 AND span >= $2 AND span <= $3
		AND ($4 = '' OR channel = $4) AND ($5 = '' OR identity = $5) AND ($6 = '' OR template = $6) AND ($7 = '' OR status = $7)`
	// ofKind is the SQL condition that a message m has the kind k, and comes after the cursor
	// of the page ($8 and $9). A kind is a combination of channel, identity, template and status.
	ofKind = `m.org_id = $1 AND m.channel = k.channel AND m.identity = k.identity AND m.template = k.template
		AND m.status = k.status AND (m.sent_at, m.id) < ($8, $9)`
	newestFirst = `ORDER BY m.sent_at DESC, m.id DESC`
)

var (
	insertKinds = engine.Register("insert message kinds", `
		INSERT INTO message_kinds (org_id, span, channel, identity, template, status)
		SELECT $1, CAST(v ->> 'span' AS bigint), v ->> 'channel', v ->> 'identity', v ->> 'template', v ->> 'status'
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT DO NOTHING`)
	purgeKinds = engine.Register("purge message kinds", `
		DELETE FROM message_kinds WHERE org_id = $1 AND span < $2`)
	countKinds = engine.Register("count message kinds", `
		SELECT count(*) FROM (`+kindsThatFit+` LIMIT $8) AS found`)

	// messagesByKinds reads a page of messages from the index by kind (combination of
	// channel, identity, template and status). It first reads the newest message of each
	// kind. With a page of n rows, the n-th newest of these is a lower bound for the time of
	// every row of the page. Each kind then contributes at most n messages after that time.
	messagesByKinds = engine.Register("messages by kinds", `
		SELECT `+messageColumns+` FROM (
			WITH kinds AS MATERIALIZED (`+kindsThatFit+`),
			heads AS MATERIALIZED (
				SELECT k.channel, k.identity, k.template, k.status, (
					SELECT m.sent_at FROM messages AS m WHERE `+ofKind+` AND m.sent_at >= $10 `+newestFirst+` LIMIT 1
				) AS newest FROM kinds AS k),
			bottom AS MATERIALIZED (
				SELECT CASE WHEN count(*) < $11 THEN $10 ELSE min(newest) END AS sent_at
				FROM (SELECT newest FROM heads WHERE newest IS NOT NULL ORDER BY newest DESC LIMIT $11) AS top),
			parts AS MATERIALIZED (
				SELECT k.channel, k.identity, k.template, k.status, (
					SELECT min(sent_at) FROM (
						SELECT m.sent_at FROM messages AS m
						WHERE `+ofKind+` AND m.sent_at >= (SELECT sent_at FROM bottom) `+newestFirst+` LIMIT $11
					) AS most) AS oldest
				FROM heads AS k WHERE k.newest >= (SELECT sent_at FROM bottom))
			SELECT m.id FROM parts AS k CROSS JOIN messages AS m
			WHERE `+ofKind+` AND m.sent_at >= k.oldest `+newestFirst+` LIMIT $11
		) AS found CROSS JOIN messages AS m
		WHERE m.org_id = $1 AND m.id = found.id `+newestFirst)
	countByKinds = engine.Register("count messages by kinds", `
		SELECT count(*) FROM (
			SELECT 1 AS one FROM (`+kindsThatFit+`) AS k CROSS JOIN messages AS m
			WHERE `+ofKind+` AND m.sent_at >= $10 LIMIT $11) AS found`)
)

// kindRow is an element of the JSON parameter of insertKinds: a combination of channel,
// identity, template and status, in a period.
type kindRow struct {
	Span     int64  `json:"span"`
	Channel  string `json:"channel"`
	Identity string `json:"identity"`
	Template string `json:"template"`
	Status   string `json:"status"`
}

func compareKinds(a, b kindRow) int {
	return cmp.Or(cmp.Compare(a.Span, b.Span), strings.Compare(a.Channel, b.Channel), strings.Compare(a.Identity, b.Identity),
		strings.Compare(a.Template, b.Template), strings.Compare(a.Status, b.Status))
}

// insertKinds stores the combinations of channel, identity, template and status ("kinds")
// that the merged messages have now.
func (s Store) insertKinds(ctx context.Context, orgID string, merged []sentRow) error {
	kinds := make([]kindRow, len(merged))
	for i, m := range merged {
		kinds[i] = kindRow{Span: spanOf(m.Sent), Channel: m.Channel, Identity: m.Identity, Template: m.Template, Status: m.Status}
	}
	slices.SortFunc(kinds, compareKinds)
	return engine.ExecRows(ctx, s.db, insertKinds, orgID, slices.Compact(kinds))
}

// goesByKinds reports whether to read the page through the index by kind (channel,
// identity, template and status together). It returns true for a filter by identity or by
// two of the four columns, unless more than maxKinds kinds match. A filter by recipient has
// an index of its own. With a filter by recipient, goesByKinds returns true only if no kind
// matches, because the page is then empty.
func (s Store) goesByKinds(ctx context.Context, orgID string, f messages.Filter) (bool, error) {
	set := 0
	for _, filter := range []string{f.Channel, f.Identity, f.Template, string(f.Status)} {
		if filter != "" {
			set++
		}
	}
	if set == 0 || set == 1 && f.Identity == "" && f.Recipient == "" {
		return false, nil
	}
	found, err := engine.Values[int](ctx, s.db, countKinds, append(kindArguments(orgID, f), maxKinds+1)...)
	if err != nil {
		return false, err
	}
	return found[0] == 0 || f.Recipient == "" && found[0] <= maxKinds, nil
}

// kindArguments returns the arguments $1 to $7 of the statement kindsThatFit.
func kindArguments(orgID string, f messages.Filter) []any {
	return []any{orgID, spanOf(engine.At(f.From)), spanOf(engine.At(f.To)), f.Channel, f.Identity, f.Template, string(f.Status)}
}

// byKindsArguments returns the arguments of the statements messagesByKinds and
// countByKinds.
func byKindsArguments(orgID string, f messages.Filter) []any {
	at, id := placeOf(f)
	return append(kindArguments(orgID, f), at, id, engine.At(f.From), f.Limit)
}
