package receiving_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// outage is a queue on a database that can be away.
type outage struct {
	receiving.Queue
	away atomic.Bool
}

var errAway = core.TemporarilyUnavailable(errors.New("connection refused"))

func (o *outage) Due(ctx context.Context, slow bool, now time.Time, limit int) ([]receiving.Target, error) {
	if o.away.Load() {
		return nil, errAway
	}
	return o.Queue.Due(ctx, slow, now, limit)
}

func (o *outage) Settle(ctx context.Context, results []receiving.Result) error {
	if o.away.Load() {
		return errAway
	}
	return o.Queue.Settle(ctx, results)
}

func (o *outage) Release(ctx context.Context, e receiving.Endpoint, now time.Time) error {
	if o.away.Load() {
		return errAway
	}
	return o.Queue.Release(ctx, e, now)
}

// TestOutageDuringATurn lets the database go away while a message is sent. When it answers again,
// the message must count as delivered, and the next one must be sent without waiting for the end
// of the lease.
func TestOutageDuringATurn(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		queue := &outage{Queue: db.ReceivedDeliveries()}
		w.Courier = receiving.NewCourier(receiving.CourierConfig{
			Queue: queue, Store: db.ReceivedDeliveries(), Objects: w.Stores, Sealer: w.Sealer, Sender: w.Endpoint, Clock: w.Clock, Log: slog.New(slog.DiscardHandler),
		})
		w.Open(t, hook, "")
		w.Endpoint.Answer(func(standardhooks.Request) standardhooks.Answer {
			queue.away.Store(true)
			return standardhooks.Answer{Status: 200}
		})
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		if err := w.Courier.SendDue(t.Context()); core.AsError(err).Code != core.CodeTemporarilyUnavailable {
			t.Fatalf("the slow lane looks in the outage: %v", err)
		}
		w.Endpoint.Answer(nil)
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		w.Advance(5 * time.Second)
		queue.away.Store(false)
		w.Send(t)
		if sent := w.Endpoint.Requests(); len(sent) != 2 || sent[0].ID == sent[1].ID {
			t.Errorf("%d requests, want one for each message", len(sent))
		}
		for _, m := range log(t, w) {
			if m.Outcome != receiving.Delivered {
				t.Errorf("%+v", m)
			}
		}
	})
}
