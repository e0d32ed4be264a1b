package product

import (
	"errors"
	"testing"
	"time"
)

// AwaitJob waits until the product has ended a run of the job of this kind, such as the one
// at its start. A test calls AwaitJob before it stores what the job would replace, or makes
// the sending account fail.
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
