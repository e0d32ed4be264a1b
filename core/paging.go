package core

import (
	"strconv"
	"strings"
	"time"
)

// DefaultLimit is the page size if the caller gives none.
const DefaultLimit = 50

// Limit returns the requested page size, or [DefaultLimit] for 0.
func Limit(asked int) int {
	if asked == 0 {
		return DefaultLimit
	}
	return asked
}

// After is a position in a list that is ordered newest first. The page begins after the row
// with this time and id.
type After struct {
	At time.Time
	ID string
}

const maxPlaceID = 256

// AfterCursor decodes the cursor of a list that is ordered newest first. filter is the text
// of all filters of the list. It returns nil for the cursor "", the start of the list.
func AfterCursor(filter, cursor string) (*After, error) {
	keys, err := DecodeCursor(filter, cursor, 2)
	if err != nil || keys == nil {
		return nil, err
	}
	micros, err := strconv.ParseInt(keys[0], 10, 64)
	if err != nil || !isPlaceID(keys[1]) {
		return nil, cursorError("is not a cursor of this list")
	}
	return &After{At: time.UnixMicro(micros).UTC(), ID: keys[1]}, nil
}

// isPlaceID reports whether id can be the id of a row in a cursor: 1 to 256 visible ASCII
// characters, as in all ids of Mailhelm and of providers.
func isPlaceID(id string) bool {
	return id != "" && len(id) <= maxPlaceID && !strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' })
}

// PageOf returns a page with at most limit of the rows. rows must have one row more than
// limit if another page follows. place returns the position of a row.
func PageOf[T any](rows []T, limit int, filter string, place func(T) After) Page[T] {
	if len(rows) <= limit {
		return Page[T]{Items: rows}
	}
	rows = rows[:limit]
	last := place(rows[limit-1])
	return Page[T]{Items: rows, Next: EncodeCursor(filter, strconv.FormatInt(last.At.UnixMicro(), 10), last.ID)}
}

// ReadPage reads one page of a list that is ordered newest first. filter is the text of the
// list's filters. cursor is "" for the first page, and limit is the page size that the
// caller requested. It calls read with the position after which to begin and the number of
// rows to read. place returns the position of a row.
func ReadPage[T any](filter, cursor string, limit int, read func(after *After, limit int) ([]T, error), place func(T) After) (Page[T], error) {
	after, err := AfterCursor(filter, cursor)
	if err != nil {
		return Page[T]{}, err
	}
	limit = Limit(limit)
	rows, err := read(after, limit+1)
	if err != nil {
		return Page[T]{}, err
	}
	return PageOf(rows, limit, filter, place), nil
}
