package product

import (
	"errors"
	"testing"
	"time"
)

// AwaitJob waits until at least one job of this kind has ended, such as one that the
// product queued when it started. A test calls AwaitJob before it stores data that the job
// would overwrite, or before it makes the sending account fail, which the job needs.
func (p *Product) AwaitJob(t testing.TB, kind string) {
	t.Helper()
	db := p.SQL(t)
	const ended = `SELECT count(*) FROM river_job WHERE kind = $1 AND finalized_at IS NOT NULL`
	Await(t, time.Minute, func() error {
		var runs int
		err := db.QueryRowContext(t.Context(), ended, kind).Scan(&runs)
		if err == nil && runs == 0 {
			err = errors.New("no run of the job " + kind + " has ended")
		}
		return err
	})
}
