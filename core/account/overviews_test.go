package account

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

func TestConcurrentCallersShareOneAccountRead(t *testing.T) {
	t.Parallel()
	o := overviews{byOrg: map[string]*answer{}}
	clock := func() time.Time { return time.Unix(0, 0) }
	asked, reply := make(chan struct{}, 100), make(chan struct{})
	account := func(context.Context, string) (sending.Overview, error) {
		asked <- struct{}{}
		<-reply
		return sending.Overview{Region: "r"}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := o.get(ctx, "org", clock, account)
		first <- err
	}()
	<-asked
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	var others sync.WaitGroup
	for range 10 {
		others.Go(func() {
			if got, err := o.get(t.Context(), "org", clock, account); err != nil || got.Region != "r" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	close(reply)
	others.Wait()
	if len(asked) != 0 {
		t.Errorf("the account was asked %d more times", len(asked))
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	o := overviews{byOrg: map[string]*answer{}}
	clock := func() time.Time { return time.Unix(0, 0) }
	for i := range maxOverviews + 50 {
		if _, err := o.get(t.Context(), strconv.Itoa(i), clock, func(context.Context, string) (sending.Overview, error) {
			return sending.Overview{}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(o.byOrg); n > maxOverviews {
		t.Errorf("%d answers are remembered", n)
	}
}
