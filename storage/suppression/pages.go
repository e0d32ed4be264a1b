package suppression

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// entryPages has the statements that read and count undeliverable addresses with certain
// filters. One index sorts the addresses by their latest change, another one by status and
// latest change.
type entryPages struct {
	newest, count *engine.Statement
}

// entryPagesBy has the statements for each form of a filter. The first key says whether the
// filter has a status, the second whether it has a part of the address. A part is compared
// with every row of the index.
var entryPagesBy = map[bool]map[bool]entryPages{
	false: {false: registerEntryPages(false, false), true: registerEntryPages(false, true)},
	true:  {false: registerEntryPages(true, false), true: registerEntryPages(true, true)},
}

// registerEntryPages registers the statements for filters with or without a status and a
// part of the address. The two bounds of a page are compared as row values of the columns
// of an index, so that SQLite uses that index. The casts have no effect on the result; they
// avoid PostgreSQL's bad estimates for row values.
func registerEntryPages(status, part bool) entryPages {
	name, from := "undeliverable", ` FROM undeliverable WHERE org_id = $1 AND (last_changed_at, id) > ($2, $3) AND (last_changed_at, id) < ($4, $5)`
	order, next := []string{"last_changed_at", "id"}, 6
	if status {
		name += " with a status"
		from = ` FROM undeliverable WHERE org_id = $1 AND CAST(status AS text) = $2
			AND CAST(last_changed_at AS bigint) >= $3 AND (status, last_changed_at, id) > ($2, $3, $4)
			AND CAST(last_changed_at AS bigint) <= $5 AND (status, last_changed_at, id) < ($2, $5, $6)`
		order, next = append([]string{"status"}, order...), 7
	}
	if part {
		name += " by part"
		from += ` AND email_key LIKE $` + strconv.Itoa(next) + ` ESCAPE '\'`
		next++
	}
	limit := ` LIMIT $` + strconv.Itoa(next)
	return entryPages{
		newest: engine.Register(name+", newest", `SELECT `+undeliverableColumns+from+` ORDER BY `+strings.Join(order, " DESC, ")+` DESC`+limit),
		count:  engine.Register(name+", counted", `SELECT count(*)`+from),
	}
}

// entryArguments returns all arguments of the statements that read a page of entries,
// except the limit, which is the last argument. The page lies between two exclusive bounds,
// each a time of change and an id: ChangedSince of the filter, and the filter's cursor
// After. The id for ChangedSince is "", so a change at exactly that time is on the page.
func entryArguments(orgID string, f suppression.EntryFilter) []any {
	fromAt, fromID, toAt, toID := engine.Time(math.MinInt64), "", engine.Time(math.MaxInt64), ""
	if !f.ChangedSince.IsZero() {
		fromAt = engine.At(f.ChangedSince)
	}
	if f.After != nil {
		toAt, toID = engine.At(f.After.At), f.After.ID
	}
	args := []any{orgID}
	if f.Status != "" {
		args = append(args, string(f.Status))
	}
	args = append(args, fromAt, fromID, toAt, toID)
	if f.Part != "" {
		args = append(args, engine.SearchPattern(suppression.AddressKey(f.Part)))
	}
	return args
}

// EntryPage returns one page of undeliverable addresses, latest change first. It reads
// through the index that fits the filter.
func (s Store) EntryPage(ctx context.Context, orgID string, f suppression.EntryFilter) ([]suppression.Entry, error) {
	statement := entryPagesBy[f.Status != ""][f.Part != ""].newest
	return engine.ListAs(ctx, s.db, undeliverableRow.entry, statement, append(entryArguments(orgID, f), f.Limit)...)
}

func (s Store) CountEntries(ctx context.Context, orgID string, f suppression.EntryFilter) (int, error) {
	f.After = nil
	pages := entryPagesBy[f.Status != ""][f.Part != ""]
	counts, err := engine.Values[int](ctx, s.db, pages.count, entryArguments(orgID, f)...)
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}
