package incoming

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowNotices takes a second for each notice, and fails the first two.
type slowNotices struct{ notices int }

func (s *slowNotices) Announce(context.Context) error {
	time.Sleep(time.Second) //nolint:forbidigo // advances the clock of synctest
	if s.notices++; s.notices <= 2 {
		return errors.New("no database")
	}
	return nil
}

func (*slowNotices) Follow(context.Context, func()) {}

// TestMessagesShareNotices accepts messages during notices: those of one notice share the next.
// Failures in a row are logged once.
func TestMessagesShareNotices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		notices := &slowNotices{}
		a := newAnnouncer(notices, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			a.follow(ctx)
			close(ended)
		}()
		for want := 1; want <= 3; want++ {
			a.wake()
			synctest.Wait() // the notice is on its way
			for range 10 {
				a.wake()
			}
			time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // advances the clock of synctest
			synctest.Wait()
			time.Sleep(time.Second) //nolint:forbidigo // advances the clock of synctest
			if synctest.Wait(); notices.notices != 2*want {
				t.Errorf("%d notices after %d rounds, want two in each", notices.notices, want)
			}
		}
		stop()
		<-ended
		if n := strings.Count(log.String(), "not notified"); n != 1 {
			t.Errorf("%d warnings, want 1:\n%s", n, log.String())
		}
	})
}
