package audience

import (
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const defaultLimit = 50

// limitOf is the page size: what was asked for, else the default.
func limitOf(asked int) int {
	if asked == 0 {
		return defaultLimit
	}
	return asked
}

// afterOf reads the cursor of a list ordered newest first; filter is the text of
// all the filters the list was made with.
func afterOf(filter, cursor string) (*After, error) {
	keys, err := core.DecodeCursor(filter, cursor, 2)
	if err != nil || keys == nil {
		return nil, err
	}
	micros, err := strconv.ParseInt(keys[0], 10, 64)
	if err != nil || !core.IsID(keys[1]) {
		return nil, core.Invalid("cursor", "is not a cursor of this list")
	}
	return &After{CreatedAt: time.UnixMicro(micros).UTC(), ID: keys[1]}, nil
}

// pageOf makes a page of rows, of which one more than limit was read to see
// whether there is more.
func pageOf[T any](rows []T, limit int, filter string, place func(T) After) core.Page[T] {
	if len(rows) <= limit {
		return core.Page[T]{Items: rows}
	}
	rows = rows[:limit]
	last := place(rows[limit-1])
	return core.Page[T]{Items: rows, Next: core.EncodeCursor(filter, strconv.FormatInt(last.CreatedAt.UnixMicro(), 10), last.ID)}
}

// countOf writes a number with its noun: 1 list, 2 lists.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
