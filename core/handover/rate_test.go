package handover_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// slots notes for when messages are planned, and moves the clock to these times.
type slots struct {
	clock
	planned []time.Time
}

func (s *slots) wait(_ context.Context, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned = append(s.planned, until)
	if until.After(s.now) {
		s.now = until
	}
}

// accepting is an account that accepts every message, and throttles the message with the
// number throttled.
type accepting struct {
	mu        sync.Mutex
	calls     int
	throttled int
}

func (a *accepting) Send(context.Context, string, sending.Message) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls++; a.calls == a.throttled {
		return "", &sending.Failure{Kind: sending.Throttled, RetryAfter: time.Minute}
	}
	return fmt.Sprint("message ", a.calls), nil
}

func (a *accepting) SendBulk(ctx context.Context, orgID string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	outcomes := make([]sending.BulkOutcome, len(b.Recipients))
	for i := range outcomes {
		id, err := a.Send(ctx, orgID, sending.Message{})
		failure, _ := errors.AsType[*sending.Failure](err)
		outcomes[i] = sending.BulkOutcome{MessageID: id, Failure: failure}
	}
	return outcomes, nil
}

func newPaced(t *testing.T, db *storage.DB, to handover.Sender, s *slots, perSecond float64, process string) *handover.Handover {
	t.Helper()
	return handover.New(handover.Config{
		Store: db.Handover(), Limits: db.HandoverLimits(), Transactor: db, Account: to, Process: process, Clock: s.Now, Wait: s.wait, Log: slog.New(slog.DiscardHandler),
		Rate: func(context.Context, string) (float64, error) { return perSecond, nil },
	})
}

func addRecipients(t *testing.T, db *storage.DB, org, send string, n int) {
	t.Helper()
	var all []handover.Recipient
	for i := range n {
		all = append(all, handover.Recipient{Key: fmt.Sprintf("%05d", 10*i), Email: "r@example.com"}) // mailing filters keys that end with 7
	}
	if err := db.Handover().Add(t.Context(), org, send, all, start); err != nil {
		t.Fatal(err)
	}
}

// TestProcessesShareTheRate lets three processes hand over two sends of an organization. Each
// message has a time of its own, as far from the next as the rate of the account says.
func TestProcessesShareTheRate(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, sends, s := core.NewID(), []string{core.NewID(), core.NewID()}, &slots{clock: clock{now: start}}
		for _, send := range sends {
			addRecipients(t, db, org, send, 120)
		}
		to := &accepting{}
		var running sync.WaitGroup
		for i := range 3 {
			h := newPaced(t, db, to, s, 100, fmt.Sprint("process ", i))
			running.Go(func() {
				for step := range 100 {
					done, err := h.Step(t.Context(), org, sends[step%2], mailing{})
					if err != nil {
						t.Error(err)
					}
					if !done.Wait.IsZero() {
						s.advance(time.Second)
					}
				}
			})
		}
		running.Wait()
		slices.SortFunc(s.planned, time.Time.Compare)
		if len(s.planned) != 240 || to.calls != 240 {
			t.Fatalf("%d messages were planned, and %d passed", len(s.planned), to.calls)
		}
		for i := 1; i < len(s.planned); i++ {
			if s.planned[i].Sub(s.planned[i-1]) < 10*time.Millisecond {
				t.Errorf("messages %d and %d are planned for %v and %v", i-1, i, s.planned[i-1], s.planned[i])
			}
		}
	})
}

// TestSendAtTheRateIsNotThrottled plans a send at the rate of the account, and passes the
// messages to a simulated account at the planned times. Each second message is a little late,
// as calls are. The account counts the messages of each second, and throttles none.
func TestSendAtTheRateIsNotThrottled(t *testing.T) {
	t.Parallel()
	const late = 20 * time.Millisecond
	for _, perSecond := range []int64{1, 14, 200} {
		s, passed := &slots{clock: clock{now: start}}, &clock{now: start}
		planAtRate(t, s, perSecond, int(3*perSecond)+1)
		slices.SortFunc(s.planned, time.Time.Compare)
		to, org := newSimulated(t, passed.Now), core.NewID()
		seedAccount(t, to, org, perSecond)
		for i, at := range s.planned {
			passed.advance(at.Add(time.Duration(i%2) * late).Sub(passed.Now()))
			_, err := to.Send(t.Context(), org, sending.Message{Envelope: sending.Envelope{From: "news@example.com"}, To: []string{"r@example.com"}, Content: sending.Content{Text: "News."}})
			if err != nil {
				t.Fatalf("message %d at %d messages a second, after %v: %v", i, perSecond, at.Sub(start), err)
			}
		}
	}
}

// planAtRate hands over recipients at a rate. It stores the planned times in s.
func planAtRate(t *testing.T, s *slots, perSecond int64, recipients int) {
	t.Helper()
	db, org, send := storagetest.SQLite(t), core.NewID(), core.NewID()
	addRecipients(t, db, org, send, recipients)
	h := newPaced(t, db, &accepting{}, s, float64(perSecond), "process")
	for passed := 0; passed < recipients; {
		done, err := h.Step(t.Context(), org, send, everyone{})
		if err != nil {
			t.Fatal(err)
		}
		if passed += done.Claimed; !done.Wait.IsZero() {
			s.advance(done.Wait.Sub(s.Now()))
		}
	}
	if len(s.planned) != recipients {
		t.Fatalf("%d messages are planned, want %d", len(s.planned), recipients)
	}
}

// newSimulated returns a simulated account.
func newSimulated(t *testing.T, now core.Clock) *simulator.Simulator {
	t.Helper()
	to, err := simulator.Open(filepath.Join(t.TempDir(), "account.db"), simulator.Options{Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = to.Close() }) // an error of Close does not matter here
	return to
}

// seedAccount lets an organization send from example.com at a rate.
func seedAccount(t *testing.T, to *simulator.Simulator, org string, perSecond int64) {
	t.Helper()
	err := to.Seed(t.Context(), org, simulator.Setup{
		Account:    &sending.Overview{SendingEnabled: true, Max24HourSend: -1, MaxSendRate: perSecond},
		Identities: []sending.Identity{{Identity: "example.com", Verification: sending.Success}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestThrottlingPausesTheOrganization lets the account throttle one message. No process
// passes a message of the organization before the account accepts messages again. Another
// organization is not affected.
func TestThrottlingPausesTheOrganization(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, other, send, s := core.NewID(), core.NewID(), core.NewID(), &slots{clock: clock{now: start}}
		addRecipients(t, db, org, send, 40)
		addRecipients(t, db, other, send, 10)
		to := &accepting{throttled: 1}
		first, second := newPaced(t, db, to, s, 0, "first"), newPaced(t, db, to, s, 0, "second")
		done, err := first.Step(t.Context(), org, send, mailing{})
		if err != nil || !done.Wait.Equal(start.Add(time.Minute)) {
			t.Fatalf("%+v, %v", done, err)
		}
		passed := to.calls
		if done, err = second.Step(t.Context(), org, send, mailing{}); err != nil || done.Claimed != 0 || done.Wait.IsZero() || to.calls != passed {
			t.Errorf("while the account throttles: %+v, %v, %d calls", done, err, to.calls-passed)
		}
		if done, err = second.Step(t.Context(), other, send, mailing{}); err != nil || done.Claimed != 10 {
			t.Errorf("another organization: %+v, %v", done, err)
		}
		s.advance(time.Minute)
		if _, err = second.Step(t.Context(), org, send, mailing{}); err != nil {
			t.Fatal(err)
		}
		counts, err := db.Outcomes().Counts(t.Context(), org, send)
		if err != nil || counts[handover.Sent] != 40 {
			t.Errorf("%v, %v", counts, err)
		}
	})
}

// TestSlowAccountsGetSmallBatches checks that a step claims no more recipients than the account
// accepts within a second, but at least one.
func TestSlowAccountsGetSmallBatches(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	for perSecond, want := range map[float64]int{0: 50, 1000: 50, 8: 7, 1: 1, 0.1: 1} {
		org, send, s := core.NewID(), core.NewID(), &slots{clock: clock{now: start}}
		addRecipients(t, db, org, send, 60)
		done, err := newPaced(t, db, &accepting{}, s, perSecond, "process").Step(t.Context(), org, send, mailing{})
		if err != nil || done.Claimed != want {
			t.Errorf("at %v messages a second: %+v, %v, want %d", perSecond, done, err, want)
		}
	}
}
