package handover_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// bulkMailing is a send with a bulk form.
type bulkMailing struct{ mailing }

func (bulkMailing) Bulk() (sending.Bulk, bool) {
	return sending.Bulk{
		Envelope: sending.Envelope{From: "news@example.com", Tags: map[string]string{"kind": "news"}},
		Inline:   sending.InlineTemplate{Subject: "{{subject}}", HTML: "<p>Hi</p>"},
	}, true
}

func (m bulkMailing) BulkRecipient(ctx context.Context, orgID string, r handover.Recipient) (sending.BulkRecipient, string, error) {
	_, err := m.Message(ctx, orgID, r)
	return sending.BulkRecipient{To: r.Email, Data: `{"subject":"Hi"}`, Headers: []sending.Header{{Name: "X-Key", Value: r.Key}}}, "Hi", err
}

// largeMailing has values of 100 KB.
type largeMailing struct{ bulkMailing }

func (m largeMailing) BulkRecipient(ctx context.Context, orgID string, r handover.Recipient) (sending.BulkRecipient, string, error) {
	to, subject, err := m.bulkMailing.BulkRecipient(ctx, orgID, r)
	to.Data = `{"subject":"` + strings.Repeat("x", 100<<10) + `"}`
	return to, subject, err
}

// noted is an account that notes the sizes of its calls. bulk is the error of bulk calls.
type noted struct {
	accepting
	bulk  error
	sizes []int
	last  sending.Bulk
}

func (n *noted) SendBulk(ctx context.Context, orgID string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	n.mu.Lock()
	n.sizes, n.last = append(n.sizes, len(b.Recipients)), b
	n.mu.Unlock()
	if n.bulk != nil {
		return nil, n.bulk
	}
	return n.accepting.SendBulk(ctx, orgID, b)
}

// TestBulkCalls passes the messages of a step in as few calls as the account and the size of the
// messages permit. Each message has tags and headers of its own.
func TestBulkCalls(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	for _, test := range []struct {
		of        handover.Mailing
		perSecond float64
		want      string
	}{
		{bulkMailing{}, 0, "[50]"},
		{bulkMailing{}, 2000, "[50]"},
		{bulkMailing{}, 500, "[23 23 4]"},
		{bulkMailing{}, 14, "[]"},
		{mailing{}, 0, "[]"},
		{largeMailing{}, 0, fmt.Sprint(slices.Repeat([]int{2}, 25))},
	} {
		org, send, s, to := core.NewID(), core.NewID(), &slots{clock: clock{now: start}}, &noted{}
		addRecipients(t, db, org, send, 50)
		h := newPaced(t, db, to, s, test.perSecond, "process")
		done, err := h.Step(t.Context(), org, send, test.of)
		slices.SortFunc(to.sizes, func(a, b int) int { return b - a }) // calls are made at the same time
		if err != nil || fmt.Sprint(to.sizes) != test.want {
			t.Errorf("%T at %v messages a second: calls of %v, %+v, %v, want %s", test.of, test.perSecond, to.sizes, done, err, test.want)
		}
		if len(to.sizes) == 0 {
			continue
		}
		r := to.last.Recipients[0]
		if r.Tags[core.SendTag] != send || r.Headers[0].Value != r.Tags[core.RecipientTag] || to.last.Tags["kind"] != "news" {
			t.Errorf("%+v", to.last)
		}
	}
}

// TestRefusedBulks lets the account fail a whole bulk call. If it accepted no message, the
// messages are passed one by one, and so are later ones for a minute. If it throttles, they wait.
// If it does not answer, their outcome is unknown, and none is passed again.
func TestRefusedBulks(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for kind, want := range map[sending.FailureKind]map[handover.State]int{
			sending.Unsupported: {handover.Sent: 30}, sending.Invalid: {handover.Sent: 30}, sending.Refused: {handover.Sent: 30}, sending.Rejected: {handover.Sent: 30},
			sending.Throttled: {handover.Pending: 30}, sending.NotConnected: {handover.Pending: 30}, sending.TimedOut: {handover.HandingOver: 30},
		} {
			org, send, s, to := core.NewID(), core.NewID(), &slots{clock: clock{now: start}}, &noted{bulk: &sending.Failure{Kind: kind, Err: errors.New("no")}}
			addRecipients(t, db, org, send, 30)
			h := newPaced(t, db, to, s, 0, "process")
			if _, err := h.Step(t.Context(), org, send, bulkMailing{}); err != nil {
				t.Fatal(err)
			}
			counts, err := db.Outcomes().Counts(t.Context(), org, send)
			if err != nil || fmt.Sprint(counts) != fmt.Sprint(want) {
				t.Errorf("%s: %v, %v, want %v", kind, counts, err, want)
			}
			if want[handover.Sent] == 0 {
				continue
			}
			for _, bulks := range []int{1, 2} {
				again := core.NewID()
				addRecipients(t, db, org, again, 30)
				if _, err := h.Step(t.Context(), org, again, bulkMailing{}); err != nil || len(to.sizes) != bulks {
					t.Errorf("%s: %d bulk calls, %v, want %d", kind, len(to.sizes), err, bulks)
				}
				s.advance(time.Minute)
			}
		}
	})
}

// TestRefusedBulkOfAThrottlingAccount lets the account refuse a bulk call and then throttle the
// second message. The remaining recipients wait without a call.
func TestRefusedBulkOfAThrottlingAccount(t *testing.T) {
	t.Parallel()
	db, org, send, s := storagetest.SQLite(t), core.NewID(), core.NewID(), &slots{clock: clock{now: start}}
	to := &noted{bulk: &sending.Failure{Kind: sending.Unsupported}, accepting: accepting{throttled: 2}}
	addRecipients(t, db, org, send, 30)
	done, err := newPaced(t, db, to, s, 0, "process").Step(t.Context(), org, send, bulkMailing{})
	if err != nil || !done.Wait.Equal(start.Add(time.Minute)) || to.calls != 2 {
		t.Errorf("%+v, %v, %d calls", done, err, to.calls)
	}
	if counts, err := db.Outcomes().Counts(t.Context(), org, send); err != nil || counts[handover.Sent] != 1 || counts[handover.Pending] != 29 {
		t.Errorf("%v, %v", counts, err)
	}
}

// TestBulksAtTheRateAreNotThrottled passes bulk messages to a simulated account, which counts the
// recipients of each second, at the planned times. Each second call is a little late.
func TestBulksAtTheRateAreNotThrottled(t *testing.T) {
	t.Parallel()
	const perSecond, late = 500, 20 * time.Millisecond
	db, org, send, s := storagetest.SQLite(t), core.NewID(), core.NewID(), &slots{clock: clock{now: start}}
	addRecipients(t, db, org, send, 3*perSecond)
	passed := &clock{now: start}
	account := newSimulated(t, passed.Now)
	seedAccount(t, account, org, perSecond)
	h := newPaced(t, db, &accepting{}, s, perSecond, "process")
	for left := 3 * perSecond; left > 0; {
		done, err := h.Step(t.Context(), org, send, bulkMailing{})
		if err != nil {
			t.Fatal(err)
		}
		if left -= done.Claimed; !done.Wait.IsZero() {
			s.advance(done.Wait.Sub(s.Now()))
		}
	}
	sizes := []int{23, 23, 4} // of each step
	if slices.SortFunc(s.planned, time.Time.Compare); len(s.planned) != 3*perSecond/50*len(sizes) {
		t.Fatalf("%d calls are planned", len(s.planned))
	}
	for i, at := range s.planned {
		passed.advance(at.Add(time.Duration(i%2) * late).Sub(passed.Now()))
		b, _ := bulkMailing{}.Bulk()
		for range sizes[i%len(sizes)] {
			b.Recipients = append(b.Recipients, sending.BulkRecipient{To: "r@example.com", Data: `{"subject":"Hi"}`})
		}
		outcomes, err := account.SendBulk(t.Context(), org, b)
		if err != nil || outcomes[len(outcomes)-1].Failure != nil {
			t.Fatalf("call %d after %v: %v, %v", i, at.Sub(start), err, outcomes)
		}
	}
}
