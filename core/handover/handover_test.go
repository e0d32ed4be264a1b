package handover_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// account is a sending account that accepts, refuses, throttles, and does not answer.
type account struct {
	mu     sync.Mutex
	random *rand.Rand
	// mails has the number of accepted messages, by the recipient's key.
	mails map[string]int
}

func (a *account) Send(_ context.Context, _ string, m sending.Message) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := m.Tags[core.RecipientTag]
	switch n := a.random.IntN(100); {
	case n < 8: // accepted, without an answer
		a.mails[key]++
		return "", &sending.Failure{Kind: sending.TimedOut, Err: errors.New("no answer")}
	case n < 16:
		return "", &sending.Failure{Kind: sending.TimedOut, Err: errors.New("not reached")}
	case n < 20:
		return "", &sending.Failure{Kind: sending.Throttled, RetryAfter: time.Second}
	case n < 24:
		return "", &sending.Failure{Kind: sending.Rejected}
	}
	a.mails[key]++
	return "message of " + key, nil
}

// SendBulk answers for each recipient as Send does. Some calls fail as a whole.
func (a *account) SendBulk(ctx context.Context, orgID string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	a.mu.Lock()
	n := a.random.IntN(10)
	a.mu.Unlock()
	switch n {
	case 0:
		return nil, &sending.Failure{Kind: sending.Invalid}
	case 1:
		return nil, &sending.Failure{Kind: sending.Throttled, RetryAfter: time.Second}
	}
	var outcomes []sending.BulkOutcome
	for _, r := range b.Recipients {
		id, err := a.Send(ctx, orgID, sending.Message{Envelope: sending.Envelope{Tags: r.Tags}})
		failure, _ := errors.AsType[*sending.Failure](err)
		outcomes = append(outcomes, sending.BulkOutcome{MessageID: id, Failure: failure})
	}
	if n == 2 { // accepted, without an answer
		return nil, &sending.Failure{Kind: sending.TimedOut}
	}
	return outcomes, nil
}

// mailing is a send that runs, and that filters each tenth recipient.
type mailing struct{}

func (mailing) Running(_ context.Context, _ string, want int, _ time.Time) (handover.Allowance, error) {
	return handover.Allowance{Recipients: want}, nil
}

func (mailing) Claimed(context.Context, string, int, time.Time) error { return nil }

func (mailing) Application() string { return "" }

func (mailing) Filter(_ context.Context, _ string, recipients []handover.Recipient) (map[string]handover.Tier, error) {
	tiers := map[string]handover.Tier{}
	for _, r := range recipients {
		if r.Key[len(r.Key)-1] == '7' {
			tiers[r.Key] = handover.ByTopic
		}
	}
	return tiers, nil
}

func (mailing) Message(_ context.Context, _ string, r handover.Recipient) (sending.Message, error) {
	switch r.Key {
	case "r1":
		return sending.Message{}, errors.New("no template")
	case "r2":
		panic("a fault in rendering")
	}
	return sending.Message{To: []string{r.Email}, Content: sending.Content{Subject: "Hi", HTML: "<p>Hi</p>", Text: "Hi"}}, nil
}

// crashing is a store that loses the answers of some steps, as if the process had crashed
// before it stored them.
type crashing struct {
	handover.Store
	mu     sync.Mutex
	random *rand.Rand
}

var errCrash = errors.New("crashed")

func (c *crashing) Answer(ctx context.Context, orgID, sendID string, answers []handover.Answer, now time.Time) error {
	c.mu.Lock()
	lost := c.random.IntN(4) == 0
	c.mu.Unlock()
	if lost {
		return errCrash
	}
	return c.Store.Answer(ctx, orgID, sendID, answers, now)
}

// clock is a clock that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestEveryRecipientHasOneOutcome lets four workers hand over a send while the account does
// not answer, throttles and refuses, and while workers crash. The events of half of the
// accepted messages arrive before the attempts are given up, the others later.
func TestEveryRecipientHasOneOutcome(t *testing.T) {
	t.Parallel()
	t.Run("single", func(t *testing.T) { everyRecipientHasOneOutcome(t, mailing{}) })
	t.Run("bulk", func(t *testing.T) { everyRecipientHasOneOutcome(t, bulkMailing{}) })
}

func everyRecipientHasOneOutcome(t *testing.T, of handover.Mailing) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		const recipients = 400
		org, send, now := core.NewID(), core.NewID(), &clock{now: start}
		to := &account{random: rand.New(rand.NewPCG(1, 2)), mails: map[string]int{}}
		store := &crashing{Store: db.Handover(), random: rand.New(rand.NewPCG(3, 4))}
		var all []handover.Recipient
		for i := range recipients {
			all = append(all, handover.Recipient{Key: fmt.Sprint("r", i), Email: fmt.Sprintf("r%d@example.com", i)})
		}
		if err := db.Handover().Add(t.Context(), org, send, all, start); err != nil {
			t.Fatal(err)
		}
		h := handover.New(handover.Config{
			Store: store, Limits: db.HandoverLimits(), Transactor: db, Account: to, Process: "process", Rate: unlimited, Wait: noWait, Clock: now.Now, Log: slog.New(slog.DiscardHandler),
		})
		for range 200 {
			if !stepAll(t, h, org, send, of) {
				break
			}
			now.advance(time.Minute)
		}
		observe(t, db, to, org, send, 2)
		now.advance(handover.Patience)
		if _, err := db.Handover().GiveUp(t.Context(), org, now.Now(), recipients); err != nil {
			t.Fatal(err)
		}
		observe(t, db, to, org, send, 1)
		checkOutcomes(t, db, to, org, send, recipients)
	})
}

func unlimited(context.Context, string) (float64, error) { return 0, nil }

func noWait(context.Context, time.Time) {}

// stepAll runs four steps at the same time. It reports whether one claimed a recipient.
func stepAll(t *testing.T, h *handover.Handover, org, send string, of handover.Mailing) bool {
	t.Helper()
	var mu sync.Mutex
	worked := false
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			done, err := h.Step(t.Context(), org, send, of)
			if err != nil && !errors.Is(err, errCrash) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			worked = worked || done.Claimed+done.Filtered > 0
		})
	}
	running.Wait()
	return worked
}

// observe lets the events of each nth accepted message arrive.
func observe(t *testing.T, db *storage.DB, to *account, org, send string, nth int) {
	t.Helper()
	var seen []handover.Evidence
	for key := range to.mails {
		if int(key[len(key)-1])%nth == 0 {
			seen = append(seen, handover.Evidence{SendID: send, Key: key, MessageID: "event of " + key})
		}
	}
	if _, err := db.Handover().Observe(t.Context(), org, seen, start); err != nil {
		t.Fatal(err)
	}
}

// noMessage is the reason of a recipient whose message could not be made.
const noMessage = "The message could not be made from its template."

func checkOutcomes(t *testing.T, db *storage.DB, to *account, org, send string, recipients int) {
	t.Helper()
	counts, unknown := map[handover.State]int{}, 0
	for i := range recipients {
		key := fmt.Sprint("r", i)
		r, err := db.Handover().Recipient(t.Context(), org, send, key)
		if err != nil {
			t.Fatal(err)
		}
		counts[r.State]++
		if r.Reason == handover.OutcomeUnknown {
			unknown++
		}
		if (key == "r1" || key == "r2") && (r.State != handover.Failed || r.Reason != noMessage) && r.Reason != handover.OutcomeUnknown {
			t.Errorf("%s has no message and is %s: %s", key, r.State, r.Reason)
		}
		switch {
		case to.mails[key] > 1:
			t.Errorf("%s got %d mails", key, to.mails[key])
		case !r.State.IsOutcome():
			t.Errorf("%s has no outcome: %s", key, r.State)
		case (to.mails[key] == 1) != (r.State == handover.Sent):
			t.Errorf("%s got %d mails and is %s", key, to.mails[key], r.State)
		}
	}
	if counts[handover.Sent] < recipients/2 || counts[handover.Filtered] != recipients/10 || counts[handover.Failed] == unknown || unknown == 0 {
		t.Errorf("outcomes %v, unknown %d", counts, unknown)
	}
}
