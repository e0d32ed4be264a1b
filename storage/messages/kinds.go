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

// A kind of messages is a channel, an identity, a template and a status that occur
// together. One index has the messages of each kind newest first, so a filter by
// two of the four goes to as many places of that index as there are kinds that fit,
// and meets no message that does not fit. No index of one column gives such a bound.

// spanLength is how much time a row of message_kinds stands for; the schema repeats
// it. A row goes when all of its span is forgotten, so that no purge can take one
// that a message recorded at the same time relies on.
const spanLength = 30 * 24 * time.Hour

// maxKinds is how many kinds a page looks at, some 10 µs each. Filters that fit more
// than that fit many messages as well, and walking an index soon fills a page.
const maxKinds = 2000

// spanOf grows with time, which is all that comparing spans needs.
func spanOf(at engine.Time) int64 { return int64(at) / spanLength.Microseconds() }

const (
	// kindsThatFit takes the organization, two spans and the four filters.
	kindsThatFit = `SELECT DISTINCT channel, identity, template, status FROM message_kinds
		WHERE org_id = $1 AND span >= $2 AND span <= $3
		AND ($4 = '' OR channel = $4) AND ($5 = '' OR identity = $5) AND ($6 = '' OR template = $6) AND ($7 = '' OR status = $7)`
	// ofKind holds for messages m of kind k behind the place where a page starts.
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

	// A page is not older than the newest message of the kind that comes last among
	// as many kinds as the page has rows, and no kind gives more than a page.
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

// kindRow is an element of the parameter of insertKinds.
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

// insertKinds remembers the kinds that merged messages now are.
func (s Store) insertKinds(ctx context.Context, orgID string, merged []sentRow) error {
	kinds := make([]kindRow, len(merged))
	for i, m := range merged {
		kinds[i] = kindRow{Span: spanOf(m.Sent), Channel: m.Channel, Identity: m.Identity, Template: m.Template, Status: m.Status}
	}
	slices.SortFunc(kinds, compareKinds)
	parameter, err := engine.JSONParameter(slices.Compact(kinds))
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, insertKinds, orgID, parameter)
	return err
}

// goesByKinds tells whether the statements by kinds answer the filter: by two of the
// four or an identity, where no index of one column bounds a page, when not too many
// kinds fit. A
// recipient has an index, which is not walked when no kind fits the other filters.
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

// kindArguments are what kindsThatFit takes.
func kindArguments(orgID string, f messages.Filter) []any {
	return []any{orgID, spanOf(engine.At(f.From)), spanOf(engine.At(f.To)), f.Channel, f.Identity, f.Template, string(f.Status)}
}

// byKindsArguments are what messagesByKinds and countByKinds take.
func byKindsArguments(orgID string, f messages.Filter) []any {
	at, id := placeOf(f)
	return append(kindArguments(orgID, f), at, id, engine.At(f.From), f.Limit)
}
