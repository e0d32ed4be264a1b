package server

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// turnedAwayAfter is how long a call waits for a database connection before it fails with
// the code overloaded.
const turnedAwayAfter = 2 * time.Second

// blockWriters opens write transactions until no call can open another one. It keeps them
// open until release is called.
func blockWriters(t *testing.T, p *product.Product) (release func()) {
	t.Helper()
	end := make(chan struct{})
	var held sync.WaitGroup
	for full := false; !full; {
		taken := make(chan error, 1)
		held.Go(func() {
			err := p.DB.InTx(context.WithoutCancel(t.Context()), func(context.Context) error {
				taken <- nil
				<-end
				return nil
			})
			if err != nil {
				taken <- err
			}
		})
		err := <-taken
		full = err != nil
		if full && core.AsError(err).Code != core.CodeOverloaded {
			t.Error(err)
		}
	}
	release = sync.OnceFunc(func() { close(end); held.Wait() })
	t.Cleanup(release)
	return release
}

// TestTheWriterIsHeld makes calls while all database connections for writing are in use.
// Writes must fail with 503 and Retry-After after two seconds. Token requests and the
// readiness check must succeed. Later the same writes, with the same idempotency keys, must
// succeed and take effect once.
func TestTheWriterIsHeld(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		s := newFaultScene(t, product.Options{Postgres: postgres, CallerWait: turnedAwayAfter})
		s.begin(t, "held")
		// The server caches callers for five seconds. The clock is stopped, so that the cached
		// callers do not expire before the writes on a slow machine. On PostgreSQL the server
		// could not read the callers again while the connections are in use.
		s.p.Clock.Freeze(s.p.Clock.Now())
		var writes []call
		for _, c := range databaseCalls {
			if c.writes {
				writes = append(writes, c.call)
				continue
			}
			// puts the caller into the server's cache before all connections are in use
			checkDone(t, c.name(), s.do(t, c.call))
		}
		keyed := func(c call) answer { return s.doKeyed(t.Context(), c, "key-of-"+c.operation) }
		release := blockWriters(t, s.p)
		var calling sync.WaitGroup
		for _, c := range writes {
			calling.Go(func() { checkTurnedAway(t, c, keyed(c)) })
		}
		checkDone(t, "a token", s.askToken(t, s.p.Live))
		s.checkReady(t, "")
		calling.Wait()
		release()
		for _, c := range writes {
			checkDone(t, c.name()+", afterwards", keyed(c))
			checkDone(t, c.name()+", once more", keyed(c))
		}
		lists, err := s.p.DB.Lists().CountLists(t.Context(), s.p.OrgID, "Created held")
		if err != nil || lists != 1 {
			t.Errorf("%d lists were made, %v, want the one of the call afterwards", lists, err)
		}
	})
}

func checkTurnedAway(t *testing.T, c call, got answer) {
	t.Helper()
	if got.err != nil || got.content["code"] != "overloaded" || got.content["status"] != 503.0 || got.content["retry_after"] != 2.0 {
		t.Errorf("%s: %v %d %s", c.name(), got.err, got.status, got.body)
	}
	if c.method == "" && !got.isError {
		t.Errorf("%s: no tool's error: %s", c.name(), got.body)
	}
	if c.method != "" && (got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "2") {
		t.Errorf("%s: %d with Retry-After %q", c.name(), got.status, got.header.Get("Retry-After"))
	}
}
