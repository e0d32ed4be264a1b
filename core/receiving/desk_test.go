package receiving_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var operator = access.ActorOf(access.Operator)

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

// TestTestDelivery checks the delivery that a person causes.
func TestTestDelivery(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		id := w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)["id"].(string)
		if _, err := w.Desk.SendTest(t.Context(), operator, w.OrgID, id); core.AsError(err).Code != core.CodeWebhookNotSet {
			t.Errorf("%v", err)
		}
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`"}`)
		made, err := w.Desk.SendTest(t.Context(), operator, w.OrgID, id)
		if err != nil {
			t.Fatal(err)
		}
		w.Send(t)
		sent := w.Endpoint.Requests()
		if len(sent) != 1 || sent[0].ID != made.ID || body(t, sent[0])["test"] != true || !cmp.Equal(body(t, sent[0])["recipients"], []any{"test@in.example.com"}) {
			t.Errorf("%v", sent)
		}
		if got := w.Want(t, "inbound_messages_get", `{"message_id":"`+made.ID+`"}`); got["test"] != true || got["outcome"] != "delivered" {
			t.Errorf("%v", got)
		}
	})
}

// TestResendWindow checks which messages of a window are sent again.
func TestResendWindow(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, `"allow_patterns":["x"]`)
		for range 5 {
			w.Receive(t, w.Message(core.NewID()), "x@in.example.com")
			w.Receive(t, w.Message(core.NewID()), "refused@in.example.com")
			w.Advance(time.Minute)
		}
		w.Send(t)
		if _, err := w.Desk.SendTest(t.Context(), operator, w.OrgID, log(t, w)[0].DomainID); err != nil {
			t.Fatal(err)
		}
		w.Send(t)
		from := receivingtest.Start.Add(time.Minute)
		n, err := w.Desk.ResendWindow(t.Context(), operator, w.OrgID, "in.example.com", from, from.Add(3*time.Minute))
		if err != nil || n != 3 {
			t.Errorf("%d, %v", n, err)
		}
		w.Send(t)
		if got := len(w.Endpoint.Requests()); got != 6+3 {
			t.Errorf("%d requests", got)
		}
		if _, err := w.Desk.ResendWindow(t.Context(), operator, w.OrgID, "other.example.com", from, from.Add(time.Minute)); !core.IsNotFound(err) {
			t.Errorf("%v", err)
		}
		if _, err := w.Desk.ResendWindow(t.Context(), operator, w.OrgID, "in.example.com", from, from); core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("%v", err)
		}
	})
}
