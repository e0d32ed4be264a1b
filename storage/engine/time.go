package engine

import (
	"fmt"
	"time"
)

// Time is a time as both databases store it: microseconds since 1970, UTC. Statements never
// use time.Time parameters, because SQLite would store text that depends on the time zone.
type Time int64

// At returns t as microseconds since 1970, rounded down.
func At(t time.Time) Time { return Time(t.UnixMicro()) }

// Time returns t as a time.Time in UTC.
func (t Time) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Scan reads the value of a bigint column. Without this method database/sql would convert
// the value through text.
func (t *Time) Scan(stored any) error {
	micros, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("storage: a time is a bigint, not %T", stored)
	}
	*t = Time(micros)
	return nil
}

// OptionalTime converts the value of a column that may be NULL. It returns nil for nil.
func OptionalTime(t *Time) *time.Time {
	if t == nil {
		return nil
	}
	instant := t.Time()
	return &instant
}

// OptionalAt converts a time that may be absent to its stored form. It returns nil for nil.
func OptionalAt(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	stored := At(*t)
	return &stored
}
