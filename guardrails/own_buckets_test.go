package guardrails

import (
	"strconv"
	"testing"
	"time"
)

// TestFullBucketsAreForgotten checks that full buckets are removed from memory, and that a
// bucket without tokens is kept. Without that bucket, its caller could make additional
// calls.
func TestFullBucketsAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	own, ok := OwnBuckets(func() time.Time { return now }).(*ownBuckets)
	if !ok {
		t.Fatal("other buckets")
	}
	take := func(caller string, cost int) bool {
		t.Helper()
		_, admitted, err := own.Take(t.Context(), BucketKey{CredentialID: caller}, 60, cost)
		if err != nil {
			t.Fatal(err)
		}
		return admitted
	}
	for i := range 10 * firstSweep {
		take(strconv.Itoa(i), 1)
		// a new caller every 30 ms, 2,000 a minute; each bucket is full again after a minute
		now = now.Add(30 * time.Millisecond)
	}
	if kept := len(own.buckets); kept > 2*firstSweep {
		t.Errorf("%d buckets are kept of %d", kept, 10*firstSweep)
	}
	take("emptied", 60)
	own.mu.Lock()
	own.sweep()
	own.mu.Unlock()
	if take("emptied", 1) {
		t.Error("an empty bucket was forgotten, and is full again")
	}
}
