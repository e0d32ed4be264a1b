package engine

import (
	"fmt"
	"time"
)

// Time is an instant as both databases store it: microseconds since 1970, UTC. Statements
// never bind a time.Time, because SQLite would store text that depends on the time zone.
type Time int64

// At returns the stored form of t. It truncates to microseconds.
func At(t time.Time) Time { return Time(t.UnixMicro()) }

// Time returns the instant in UTC.
func (t Time) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Scan reads the value of a bigint column. Without it database/sql would convert through
// text.
func (t *Time) Scan(stored any) error {
	micros, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("storage: a time is a bigint, not %T", stored)
	}
	*t = Time(micros)
	return nil
}

// OptionalTime returns the instant in a column that may be NULL, or nil.
func OptionalTime(t *Time) *time.Time {
	if t == nil {
		return nil
	}
	instant := t.Time()
	return &instant
}

// OptionalAt returns the stored form of a time that may be absent, or nil.
func OptionalAt(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	stored := At(*t)
	return &stored
}
