package receiving_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// twice runs the function of each transaction two times, and commits only the second: so does a
// database after a conflict of transactions.
type twice struct{ db *storage.DB }

var errConflict = errors.New("conflict")

func (x twice) InTx(ctx context.Context, do func(context.Context) error) error {
	err := x.db.InTx(ctx, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return errConflict
	})
	if !errors.Is(err, errConflict) {
		return err
	}
	return x.db.InTx(ctx, do)
}

// TestResendWindowAgain sends a window of several batches again while each transaction runs
// twice.
func TestResendWindowAgain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		const messages = 201 // a batch has 200
		for range messages {
			w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		}
		w.Desk.Transactor = twice{db}
		n, err := w.Desk.ResendWindow(t.Context(), operator, w.OrgID, "in.example.com", receivingtest.Start, receivingtest.Start.Add(time.Minute))
		if err != nil || n != messages {
			t.Errorf("%d of %d messages, %v", n, messages, err)
		}
	})
}

// failingDomains fails to read domains.
type failingDomains struct{ receiving.Store }

var errDown = errors.New("the database is down")

func (failingDomains) Domain(context.Context, string, string) (receiving.Domain, error) {
	return receiving.Domain{}, errDown
}

// TestResendFails checks that a failure of the database is not taken for a deleted domain.
func TestResendFails(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
		w.Desk.Domains = failingDomains{w.Desk.Domains}
		if err := w.Desk.Resend(t.Context(), operator, w.OrgID, log(t, w)[0].ID); !errors.Is(err, errDown) {
			t.Errorf("%v, want %v", err, errDown)
		}
	})
}
