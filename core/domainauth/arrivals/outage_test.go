package arrivals_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// outage is a queue on a database that can be away.
type outage struct {
	arrivals.Queue
	away atomic.Bool
}

func (o *outage) refused() error {
	if o.away.Load() {
		return core.TemporarilyUnavailable(errors.New("connection refused"))
	}
	return nil
}

func (o *outage) PutOff(ctx context.Context, f arrivals.File, due time.Time) (bool, error) {
	if err := o.refused(); err != nil {
		return false, err
	}
	return o.Queue.PutOff(ctx, f, due)
}

func (o *outage) SaveFile(ctx context.Context, f arrivals.File) (bool, error) {
	if err := o.refused(); err != nil {
		return false, err
	}
	return o.Queue.SaveFile(ctx, f)
}

// TestOutage lets the database go away while a file is read. It must be read again as soon as the
// database answers again and its delay is over, long before its lease ends.
func TestOutage(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verdicts = passed
		w.receive(mail("dmarc@reporter.example", gz(usual("1"))))
		w.intake.during = func(context.Context) { w.queue.away.Store(true) }
		w.read()
		w.intake.during = nil
		w.queue.away.Store(false)
		w.Advance(5 * time.Second)
		w.read()
		w.want(arrivals.Read, one, "")
	})
}
