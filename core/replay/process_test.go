package replay_test

import (
	"context"
	"log/slog"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// lateStore is a store that can delay one result of Beats after it was read from the
// database.
type lateStore struct {
	replay.ProcessStore
	late    atomic.Bool
	read    chan struct{} // closed when the delayed result was read from the database
	release chan struct{}
	looks   chan struct{} // gets a value for each call of Beats that is not delayed
}

// Beats returns the heartbeats. If the field late is set, one call clears it and waits
// until the channel release is closed.
func (s *lateStore) Beats(ctx context.Context) (map[string]replay.Heartbeat, error) {
	beats, err := s.ProcessStore.Beats(ctx)
	if s.late.CompareAndSwap(true, false) {
		close(s.read)
		<-s.release
		return beats, err
	}
	s.looks <- struct{}{}
	return beats, err
}

// TestALateHeartbeatReadForgetsNoProcess checks two concurrent reads of the heartbeats. The
// first read happens before another process starts, but returns after the second read,
// which finds that process. The process must still count as running and keep its
// reservations.
func TestALateHeartbeatReadForgetsNoProcess(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		store := &lateStore{ProcessStore: db.Processes(), read: make(chan struct{}), release: make(chan struct{}), looks: make(chan struct{}, 10)}
		p := replay.NewProcess(replay.ProcessConfig{
			Store: store, Replays: db.Replay(), Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		})
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(p.Start(t.Context()))
		<-store.looks
		store.late.Store(true)
		ticked := make(chan struct{})
		go func() { p.Tick(t.Context()); close(ticked) }()
		<-store.read
		must(db.Processes().Beat(t.Context(), "other", replay.Heartbeat{At: now}))

		verdicts := make(chan replay.Verdict, 1)
		go func() {
			verdict, err := p.Judge(t.Context(), replay.Record{Holder: "token", Process: "other"})
			if err != nil {
				t.Error(err)
			}
			verdicts <- verdict
		}()
		<-store.looks
		close(store.release)
		<-ticked
		for beat := 1; ; beat++ { // the other process goes on
			must(db.Processes().Beat(t.Context(), "other", replay.Heartbeat{At: now.Add(time.Duration(beat) * replay.Beat)}))
			p.Tick(t.Context())
			<-store.looks
			select {
			case verdict := <-verdicts:
				if verdict.Ended {
					t.Error("a process that shows signs of life counts as ended")
				}
				return
			default:
			}
		}
	})
}

// TestAliveCountsRunningProcesses checks that Alive counts other processes by role until they
// have been silent for the time Silence, and does not count the time of an outage of the
// database as silence.
func TestAliveCountsRunningProcesses(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		p := replay.NewProcess(replay.ProcessConfig{
			Role: "api", Store: db.Processes(), Replays: db.Replay(), Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		})
		beat := func(id, role string) {
			t.Helper()
			if err := db.Processes().Beat(t.Context(), id, replay.Heartbeat{At: now, Role: role}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string, want map[string]int) {
			t.Helper()
			if got := p.Alive(); !maps.Equal(got, want) {
				t.Errorf("%s: %v, want %v", when, got, want)
			}
		}
		check("before the start", map[string]int{"api": 1})
		beat("w", "worker")
		beat("old", "")
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("at the start", map[string]int{"api": 1, "worker": 1, "": 1})
		now = now.Add(time.Hour) // in which the database does not answer
		check("during an outage", map[string]int{"api": 1, "worker": 1, "": 1})
		p.Tick(t.Context())
		check("after an outage", map[string]int{"api": 1, "worker": 1, "": 1})
		for range 3 {
			now = now.Add(replay.Beat)
			beat("old", "")
			p.Tick(t.Context())
		}
		check("soon after", map[string]int{"api": 1, "worker": 1, "": 1})
		now = now.Add(replay.Beat)
		beat("old", "")
		p.Tick(t.Context())
		check("when the worker is silent", map[string]int{"api": 1, "": 1})
	})
}
