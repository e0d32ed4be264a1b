package installation

import (
	"fmt"
	"time"
)

// PrintList prints a list, as JSON with --json and otherwise as a table with the given
// header. The JSON object has one member, an array. The function show converts one thing to
// an array element and a table row. Without things, the table has only the header and the
// array is empty.
func PrintList[Thing, Shown any](s *Session, member string, header []string, things []Thing, show func(Thing) (Shown, []string)) error {
	listed, rows := make([]Shown, len(things)), [][]string{header}
	for i, thing := range things {
		var row []string
		listed[i], row = show(thing)
		rows = append(rows, row)
	}
	if s.JSON {
		return s.PrintJSON(map[string]any{member: listed})
	}
	return s.PrintTable("", rows)
}

// Instant formats a time for a table, in RFC 3339 without fractions of a second. It returns
// "" for nil.
func Instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339)
}

// maxListed is the largest value of --limit. It bounds the memory of one command.
const maxListed = 10_000

// CheckLimit returns an error unless --limit is from 1 to maxListed. Commands call it
// before they open the database.
func CheckLimit(limit int) error {
	if limit < 1 || limit > maxListed {
		return fmt.Errorf("--limit must be from 1 to %d", maxListed)
	}
	return nil
}
