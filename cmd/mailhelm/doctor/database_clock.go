package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/storage"
)

// The differences between the clocks of this machine and of the database that matter. Jobs and
// leases of several servers are off by the difference.
const (
	clockWarn = 2 * time.Second
	clockFail = time.Minute
)

// databaseClock compares the clock of this machine with that of PostgreSQL. SQLite has no clock of
// its own.
func (e *examination) databaseClock(ctx context.Context, db *storage.DB) {
	const name = "clock of the database"
	before := e.cfg.Clock()
	theirs, has, err := db.ServerTime(ctx)
	if err != nil {
		e.add(name, Warn, err.Error(), "")
		return
	}
	if !has {
		return
	}
	status, difference := clockStatus(before, theirs, e.cfg.Clock())
	next := ""
	if status != OK {
		next = "Run NTP on this machine and on that of the database."
	}
	e.add(name, status, fmt.Sprintf("differs by %s from that of this machine", difference.Round(time.Millisecond)), next)
}

// clockStatus judges the time that a database returned between two times of this machine. The
// difference is 0 if theirs is between them.
func clockStatus(before, theirs, after time.Time) (Status, time.Duration) {
	difference := max(before.Sub(theirs), theirs.Sub(after), 0)
	switch {
	case difference >= clockFail:
		return Fail, difference
	case difference >= clockWarn:
		return Warn, difference
	}
	return OK, difference
}
