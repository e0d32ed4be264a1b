package workpool

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// TestRestsAreForgotten lets an item rest that is never found again. The pool must not
// remember it forever.
func TestRestsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		found := []string{"deleted"}
		p := New(Config[string]{
			Limit: 1, Clock: core.SystemClock,
			Find: func(context.Context, int) ([]string, error) { return found, nil },
			Do:   func(context.Context, string) (time.Time, error) { return core.SystemClock().Add(time.Second), nil },
		})
		for _, want := range []int{1, 1, 0} {
			if err := p.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.Join()
			if len(p.resting) != want {
				t.Fatalf("%d items rest, want %d", len(p.resting), want)
			}
			found = nil
			<-time.After(500 * time.Millisecond)
		}
	})
}
