package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage"
)

// kills is the number of servers that TestKeysOutliveAKilledServer kills on each
// database. One is a sample; some hundred give a measurement.
var kills = flag.Int("kills", 1, "servers to kill under keyed writes")

const (
	keyedClients = 16
	// firstRetry limits how long a client waits for the answer to its first retry.
	firstRetry = 10 * time.Second
	// answeredShare is the share of first retries that must succeed.
	answeredShare = 0.99
)

// keyed is a client's write with an idempotency key.
type keyed struct{ number int64 }

func (k keyed) key() string   { return fmt.Sprintf("key-%d", k.number) }
func (k keyed) email() string { return fmt.Sprintf("keyed-%d@example.com", k.number) }

// stream is a set of clients that write with idempotency keys until their server fails,
// and then retry the failed calls.
type stream struct {
	t      *testing.T
	next   atomic.Int64
	mu     sync.Mutex
	made   int // calls answered without a retry
	cut    []keyed
	status map[string]int // of the first retries
	slow   time.Duration  // of the slowest first retry
}

// write sends one call and returns its status, 0 for no answer.
func (s *stream) write(ctx context.Context, d printed, k keyed) int {
	body := fmt.Sprintf(`{"email":%q,"unsubscribe_all":true}`, k.email())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d["base_url"]+"/v1/contacts", strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+d["api_key"])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", k.key())
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: firstRetry}
	answer, err := client.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0
	}
	return answer.StatusCode
}

// run lets all clients write until each has met a failure. It calls fail once, after the
// given number of answered calls.
func (s *stream) run(d printed, calls int, fail func()) {
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range keyedClients {
		clients.Go(func() {
			for {
				k := keyed{s.next.Add(1)}
				status := s.write(s.t.Context(), d, k)
				if status == http.StatusCreated {
					if answered.Add(1) == int64(calls) {
						clients.Go(fail)
					}
					continue
				}
				s.mu.Lock()
				s.cut = append(s.cut, k)
				s.mu.Unlock()
				return
			}
		})
	}
	clients.Wait()
	s.made += int(answered.Load())
	if answered.Load() < int64(calls) {
		s.t.Fatalf("%d of %d calls were answered before anything was to fail", answered.Load(), calls)
	}
}

// retry sends each interrupted call once more.
func (s *stream) retry(d printed) {
	var clients sync.WaitGroup
	for _, k := range s.cut {
		clients.Go(func() {
			began := time.Now()
			status := s.write(s.t.Context(), d, k)
			took := time.Since(began)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.status[fmt.Sprint(status)]++
			s.slow = max(s.slow, took)
		})
	}
	clients.Wait()
	s.cut = nil
}

// check checks the share of first retries that succeeded. It also checks that each key
// had one effect: one contact and one audit line.
func (s *stream) check(database storage.Config, org string) {
	s.t.Helper()
	total := 0
	for _, n := range s.status {
		total += n
	}
	succeeded := s.status[fmt.Sprint(http.StatusCreated)]
	s.t.Logf("%d calls answered, %d cut off; first retries %v, the slowest %v", s.made, total, s.status, s.slow.Round(time.Millisecond))
	if total == 0 || float64(succeeded) < answeredShare*float64(total) {
		s.t.Errorf("%d of %d first retries succeeded, want %v", succeeded, total, answeredShare)
	}
	db, err := storage.Open(s.t.Context(), database)
	if err != nil {
		s.t.Fatal(err)
	}
	lines, err := db.Audit().AuditEvents(s.t.Context(), org, 10_000_000)
	if err = errors.Join(err, db.Close()); err != nil {
		s.t.Fatal(err)
	}
	effects := map[string]int{}
	for _, line := range lines {
		if line.Action == "contacts_create" {
			effects[line.SubjectID]++
		}
	}
	if failed := total - succeeded; len(effects) > int(s.next.Load()) || len(effects) < s.made+succeeded || len(effects) > s.made+succeeded+failed {
		s.t.Errorf("%d contacts were created by %d calls that say so", len(effects), s.made+succeeded)
	}
	for contact, n := range effects {
		if n != 1 {
			s.t.Errorf("contact %s was created %d times", contact, n)
		}
	}
}

// TestKeysOutliveAKilledServer kills a server under a stream of keyed writes and starts
// it again. The first retry of every client must return the result of its call, and no
// call may have two effects.
func TestKeysOutliveAKilledServer(t *testing.T) {
	t.Parallel()
	for engine, on := range map[string]func(*testing.T) servers{"sqlite": onSQLite, "postgres": onPostgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			servers, chance := on(t), rand.New(rand.NewPCG(18, uint64(*kills)))
			s := &stream{t: t, status: map[string]int{}}
			server, d := servers.launch()
			for range *kills {
				s.run(d, 20+chance.IntN(100), func() { server.signal(syscall.SIGKILL) })
				if !server.waits() {
					t.Fatal("the server outlives SIGKILL")
				}
				server, d = servers.launch()
				s.retry(d)
			}
			s.check(servers.database, d["org_id"])
		})
	}
}
