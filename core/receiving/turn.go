package receiving

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// maxUnsettled is the largest number of deliveries of a turn whose results are not stored yet.
// After a crash they are sent again.
const maxUnsettled = 16 * InFlight

// turn is the time in which one process sends to an endpoint that it has leased.
type turn struct {
	*Courier
	endpoint Endpoint
	secret   string
	slow     bool // the turn is in the lane of slow endpoints
	began    time.Time

	mu sync.Mutex
	// failures counts the failed attempts since the last one that was accepted.
	failures int
	accepted bool
	// wasSlow is true after a slow attempt.
	wasSlow bool
	err     error
}

// sendDue sends due deliveries until there are none or the turn is over, and returns when all
// attempts have ended and their results are stored.
func (r *turn) sendDue(ctx context.Context) error {
	for {
		sent, err := r.sendPages(ctx)
		if err != nil || sent == 0 || r.slow || r.isOver(ctx) {
			return err
		}
	}
}

// isOver reports whether no other attempt may begin: after the time of a turn, after a slow
// attempt, and after InFlight failed ones in a row. So all attempts end within the lease, and a
// slow or failing endpoint leaves its place in the lane to others.
func (r *turn) isOver(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return ctx.Err() != nil || r.err != nil || r.wasSlow || r.failures >= InFlight || r.Clock().Sub(r.began) >= turnTime
}

// goesOn reports whether deliveries may be due that this turn did not begin, although the
// endpoint accepts them quickly.
func (r *turn) goesOn() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accepted && r.failures < InFlight && !r.wasSlow && (r.slow || r.Clock().Sub(r.began) >= turnTime)
}

// sendPages sends the deliveries that are due, InFlight at the same time, and returns their
// number. It reads a page while those of the page before are sent, and returns when the results
// of all are stored.
func (r *turn) sendPages(ctx context.Context) (int, error) {
	next := make(chan Item)
	var senders, unsettled sync.WaitGroup
	places := make(chan struct{}, maxUnsettled)
	for range InFlight {
		senders.Go(func() {
			for item := range next {
				if r.isOver(ctx) { // since eachDue passed the item on
					continue
				}
				result, ok := r.send(ctx, item)
				if !ok {
					continue
				}
				places <- struct{}{}
				unsettled.Go(func() {
					defer func() { <-places }()
					r.settle(ctx, result)
				})
			}
		})
	}
	sent, err := r.eachDue(ctx, next)
	close(next)
	senders.Wait()
	unsettled.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return sent, errors.Join(err, r.err)
}

// eachDue passes the due deliveries on, page by page, until the turn is over: in the lane of slow
// endpoints those of one page, at most InFlight. It returns how many it passed on.
func (r *turn) eachDue(ctx context.Context, next chan<- Item) (int, error) {
	limit, sent := batch, 0
	if r.slow {
		limit = InFlight
	}
	var last *Item
	for {
		page, err := r.Queue.Items(ctx, r.endpoint, r.Clock(), last, limit)
		if err != nil {
			return sent, err
		}
		for i := range page {
			if r.isOver(ctx) {
				return sent, nil
			}
			next <- page[i]
			sent++
		}
		if r.slow || len(page) < limit {
			return sent, nil
		}
		last = &page[len(page)-1]
	}
}

// send makes one attempt. It returns no result for one that the end of the process interrupted:
// the delivery stays due.
func (r *turn) send(ctx context.Context, item Item) (Result, bool) {
	start := r.Clock()
	answer, err := r.attempt(ctx, item, start)
	interrupted := ctx.Err() != nil && !answer.Delivered()
	now := r.Clock()
	result := resultOf(r.endpoint, item, answer, start, now)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil:
		r.err = errors.Join(r.err, err)
	case answer.Delivered():
		r.failures, r.accepted = 0, true
	case answer.Problem != contentGone:
		r.failures++
	}
	r.wasSlow = r.wasSlow || now.Sub(start) >= slowFrom
	return result, err == nil && !interrupted
}

// settle stores a result, also while the process stops. If an outage of the database interrupts
// it, the turn ends, and the result is stored when the database answers again.
func (r *turn) settle(ctx context.Context, result Result) {
	if err := r.settled.Store(ctx, result, r.began.Add(lease)); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = errors.Join(r.err, fmt.Errorf("result of delivery %s: %w", result.Item.ID, err))
	}
}

// attempt sends a delivery. An attempt that could not be made because of the message itself
// counts as one that failed, so that a damaged message does not stop the others. It fails only
// if the database does.
func (r *turn) attempt(ctx context.Context, item Item, now time.Time) (answer standardhooks.Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.Log.ErrorContext(ctx, "the payload of a received message panicked", "org_id", r.endpoint.OrgID, "message_id", item.MessageID, "error", core.PanicText(v))
			answer, err = standardhooks.Answer{Problem: standardhooks.NotSent}, nil
		}
	}()
	m, err := r.Store.Content(ctx, r.endpoint.OrgID, item.MessageID)
	if core.IsNotFound(err) {
		return standardhooks.Answer{Problem: contentGone}, nil
	}
	if err != nil {
		return standardhooks.Answer{}, err
	}
	body, err := bodyOf(ctx, r.Objects, r.endpoint, item, m, now)
	if err != nil {
		r.Log.WarnContext(ctx, "a received message is not delivered now", "org_id", r.endpoint.OrgID, "message_id", item.MessageID, "error", err)
		return standardhooks.Answer{Problem: storeFailed}, nil
	}
	return r.Sender.Post(ctx, standardhooks.Request{URL: r.endpoint.URL, ID: item.ID, At: now, Body: body, Secrets: []string{r.secret}}), nil
}
