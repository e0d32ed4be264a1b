package inboxes

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// quotas mints inboxes over REST, on the clock of the product.
type quotas struct {
	*product.Product
	minted int
}

// mint mints an inbox that lives for a minute. It lets earlier ones expire when the caller has
// its five live ones.
func (q *quotas) mint(t *testing.T) product.Answer {
	t.Helper()
	if q.minted%5 == 0 {
		q.Clock.Advance(time.Minute)
	}
	answer := q.Send(t, product.Request{Method: http.MethodPost, URL: q.BaseURL + "/v1/inboxes", Bearer: q.Live.APIKey, Body: `{"ttl":60}`})
	if answer.Status == http.StatusCreated {
		q.minted++
	}
	return answer
}

// refused checks that the next inbox is refused for a reason, and returns how long the caller has
// to wait.
func (q *quotas) refused(t *testing.T, reason string) time.Duration {
	t.Helper()
	answer := q.mint(t)
	var problem struct {
		Code       string `json:"code"`
		Reason     string `json:"reason"`
		RetryAfter int    `json:"retry_after"`
	}
	if err := json.Unmarshal([]byte(answer.Body), &problem); err != nil {
		t.Fatalf("%d %s: %v", answer.Status, answer.Body, err)
	}
	if answer.Status != http.StatusTooManyRequests || problem.Code != "rate_limited" || problem.Reason != reason || problem.RetryAfter <= 0 {
		t.Fatalf("after %d inboxes: %d %s, want 429 with %s", q.minted, answer.Status, answer.Body, reason)
	}
	if got := answer.Header.Get("Retry-After"); got != strconv.Itoa(problem.RetryAfter) {
		t.Errorf("Retry-After %q, want %d", got, problem.RetryAfter)
	}
	return time.Duration(problem.RetryAfter) * time.Second
}

// TestQuotas mints the 30 inboxes of an hour and the 200 of a day over REST. After the time of
// Retry-After the next inbox must be minted, and not a minute before.
func TestQuotas(t *testing.T) {
	t.Parallel()
	q := &quotas{Product: product.Start(t, product.Options{})}
	for {
		for range 30 {
			if q.minted == 200 {
				break
			}
			if answer := q.mint(t); answer.Status != http.StatusCreated {
				t.Fatalf("inbox %d: %d %s", q.minted+1, answer.Status, answer.Body)
			}
		}
		if q.minted == 200 {
			break
		}
		wait := q.refused(t, "quota_hourly")
		if wait > time.Hour {
			t.Errorf("wait %v", wait)
		}
		q.Clock.Advance(time.Hour)
	}
	wait := q.refused(t, "quota_daily")
	if wait > 24*time.Hour || wait < 12*time.Hour {
		t.Errorf("wait %v", wait)
	}
	q.Clock.Advance(wait - 2*time.Minute)
	q.refused(t, "quota_daily")
	q.Clock.Advance(2 * time.Minute)
	if answer := q.mint(t); answer.Status != http.StatusCreated {
		t.Errorf("after the wait: %d %s", answer.Status, answer.Body)
	}
}
