package engine

import (
	"fmt"
	"time"
)

// Time is an instant as both databases keep it: microseconds since 1970, UTC. A
// time.Time is never bound itself, because SQLite would store zone-dependent text.
type Time int64

// At is the stored form of t. What is finer than a microsecond is cut off.
func At(t time.Time) Time { return Time(t.UnixMicro()) }

// Time is the instant in UTC.
func (t Time) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Scan takes what a database returns for a bigint column. Without it database/sql
// would go through text.
func (t *Time) Scan(stored any) error {
	micros, ok := stored.(int64)
	if !ok {
		return fmt.Errorf("storage: a time is a bigint, not %T", stored)
	}
	*t = Time(micros)
	return nil
}

// OptionalTime is the instant behind a column that may be NULL.
func OptionalTime(t *Time) *time.Time {
	if t == nil {
		return nil
	}
	instant := t.Time()
	return &instant
}

// OptionalAt is the stored form of a time that may be absent.
func OptionalAt(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	stored := At(*t)
	return &stored
}
