package engine

import (
	"fmt"
	"time"
)

// JobTime is a time in the tables of the job queue, which have the types of its library: a
// time on PostgreSQL and a text on SQLite.
type JobTime time.Time

// Scan implements [database/sql.Scanner].
func (t *JobTime) Scan(stored any) error {
	switch stored := stored.(type) {
	case time.Time:
		*t = JobTime(stored.UTC())
		return nil
	case string:
		parsed, err := time.Parse(time.DateTime, stored) // also accepts fractions of a second
		*t = JobTime(parsed)
		return err
	}
	return fmt.Errorf("storage: a job has a time of type %T", stored)
}

// jobTimeText is the form in which the job queue stores times on SQLite.
const jobTimeText = "2006-01-02 15:04:05.999"

// JobParameter returns a time as a parameter that compares with a time in the tables of the job
// queue. On SQLite it is rounded down to milliseconds.
func (db *DB) JobParameter(t time.Time) any {
	if db.dialect == SQLite {
		return t.UTC().Format(jobTimeText)
	}
	return t.UTC()
}
