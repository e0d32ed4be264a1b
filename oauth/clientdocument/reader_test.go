package clientdocument

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/outbound/outboundtest"
)

func TestDocumentIsRememberedForAnHour(t *testing.T) {
	t.Parallel()
	var hands hands
	s := newSite(t, serveDocument)
	config := s.config()
	config.Clock = hands.now
	reader, _ := reading(config)
	for _, step := range []struct {
		wait time.Duration
		want int64
	}{{0, 1}, {0, 1}, {time.Hour - 1, 1}, {1, 2}, {time.Hour - 1, 2}, {2 * time.Hour, 3}} {
		hands.advance(step.wait)
		d := mustRead(t, reader, s.clientID)
		if n := s.requests.Load(); n != step.want {
			t.Errorf("after another %v: %d requests, want %d", step.wait, n, step.want)
		}
		d.RedirectURIs[0] = "https://evil.example/cb" // the caller's own copy
	}
	if d := mustRead(t, reader, s.clientID); !strings.HasPrefix(d.RedirectURIs[0], s.URL) {
		t.Errorf("a caller changed what is remembered: %v", d.RedirectURIs)
	}
}

func TestRefusalIsRememberedForFiveMinutes(t *testing.T) {
	t.Parallel()
	var hands hands
	var mended atomic.Bool
	s := newSite(t, func(s *site, w http.ResponseWriter, r *http.Request) {
		if !mended.Load() {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		serveDocument(s, w, r)
	})
	config := s.config()
	config.Clock = hands.now
	reader, _ := reading(config)
	for _, wait := range []time.Duration{0, 0, 5*time.Minute - 1} {
		hands.advance(wait)
		_, err := reader.ReadDocument(t.Context(), s.clientID)
		wantRefusal(t, err, "status 404")
		mended.Store(true)
	}
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	hands.advance(1)
	mustRead(t, reader, s.clientID)
}

// TestOneFetchForMany checks that a hundred concurrent calls for one document share one
// fetch.
func TestOneFetchForMany(t *testing.T) {
	t.Parallel()
	var started, done sync.WaitGroup
	started.Add(100)
	s := newSite(t, func(s *site, w http.ResponseWriter, r *http.Request) {
		started.Wait()
		serveDocument(s, w, r)
	})
	reader, _ := reading(s.config())
	for range 100 {
		done.Go(func() {
			started.Done()
			if d, err := reader.ReadDocument(t.Context(), s.clientID); err != nil || d.Name != "Agent" {
				t.Errorf("%v, %+v", err, d)
			}
		})
	}
	done.Wait()
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestCallerLeaves checks that a fetch continues when its caller's context ends, and that
// the next caller gets its result.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	s := newSite(t, func(s *site, w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
		serveDocument(s, w, r)
	})
	reader, _ := reading(s.config())
	ctx, leave := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := reader.ReadDocument(ctx, s.clientID)
		result <- err
	}()
	<-arrived
	leave()
	err := <-result
	wantRefusal(t, err, "interrupted")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", errors.Unwrap(err))
	}
	close(release)
	mustRead(t, reader, s.clientID)
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestNumberOfCachedDocumentsIsBounded checks that the number of cached documents is
// limited.
func TestNumberOfCachedDocumentsIsBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t, serveDocument)
	reader, _ := reading(s.config())
	reader.remembered = cache.New[string, outcome](4)
	read := func() int64 {
		before := s.requests.Load()
		for i := range 10 {
			mustRead(t, reader, fmt.Sprintf("%s/%d.json", s.URL, i))
		}
		return s.requests.Load() - before
	}
	if first, second := read(), read(); first != 10 || second < 6 {
		t.Errorf("%d requests, then %d; at most 4 of 10 are remembered", first, second)
	}
}

// TestLogNamesTheCause checks that the error is one sentence for people, and that the
// internal cause is in the log.
func TestLogNamesTheCause(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	reader, _ := reading(Config{Resolver: outboundtest.NewNames(t, "10.1.2.3").Resolver(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	_, err := reader.ReadDocument(t.Context(), appID)
	wantRefusal(t, err, "cannot be reached")
	if line := log.String(); !strings.Contains(line, "client_host=app.example") || !strings.Contains(line, "10.1.2.3") {
		t.Errorf("log: %s", line)
	}
}

// TestTooManyFetchesAreNotCached checks that the refusal because of too many concurrent
// fetches is not cached.
func TestTooManyFetchesAreNotCached(t *testing.T) {
	t.Parallel()
	s := newSite(t, serveDocument)
	config := s.config()
	config.Deadline = 100 * time.Millisecond
	reader, dials := reading(config)
	var leave []func()
	for range slotLimits.PerHost {
		l, ok := reader.slots.Enter(t.Context(), "127.0.0.1")
		if !ok {
			t.Fatal("no place in an empty reader")
		}
		leave = append(leave, l)
	}
	_, err := reader.ReadDocument(t.Context(), s.clientID)
	wantRefusal(t, err, "Try again")
	for _, l := range leave {
		l()
	}
	reader.config.Deadline = 10 * time.Second
	reader.fetcher = newFetcher(reader.config, reader.guard, dials.control)
	mustRead(t, reader, s.clientID)
}
