package orgs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestExportAwaitsMessages checks that an export which stops an organization waits until servers have
// noticed that and no message is on its way, but not longer than its limit.
func TestExportAwaitsMessages(t *testing.T) {
	t.Parallel()
	failure := errors.New("no database")
	for name, test := range map[string]struct {
		counts []int // the last one stays
		fails  error
		waits  time.Duration
		left   int
	}{
		"nothing on its way":       {counts: []int{0}, waits: noticed},
		"messages that end":        {counts: []int{2, 1, 1, 0}, waits: noticed + 3*lookAgain},
		"a server that was killed": {counts: []int{5, 3}, waits: noticed + settled, left: 3},
		"a database that fails":    {counts: []int{1}, fails: failure, waits: noticed, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				left, err := awaitEnd(t.Context(), func(context.Context) (int, error) {
					n := test.counts[min(calls, len(test.counts)-1)]
					calls++
					return n, test.fails
				})
				if took := time.Since(began); left != test.left || took != test.waits || !errors.Is(err, test.fails) {
					t.Errorf("%d left after %v, want %d after %v: %v", left, took, test.left, test.waits, err)
				}
			})
		})
	}
}
