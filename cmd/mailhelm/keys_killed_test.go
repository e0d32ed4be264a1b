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

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// kills is how often the tests kill a server, or restart its database, during writes with
// idempotency keys. Each kill happens at a random moment, so only a few hundred kills give
// a reliable result.
var kills = flag.Int("kills", 1, "servers to kill under keyed writes")

const (
	keyedClients = 16
	// firstRetry is the longest time for which a client waits for the response to a call or
	// to its first retry.
	firstRetry = 10 * time.Second
	// answeredShare is the fraction of the first retries, a number from 0 to 1, that must
	// succeed.
	answeredShare = 0.99
)

// keyedCall is one call of a client with an idempotency key. number makes the key unique.
type keyedCall struct{ number int64 }

func (k keyedCall) key() string   { return fmt.Sprintf("key-%d", k.number) }
func (k keyedCall) email() string { return fmt.Sprintf("keyed-%d@example.com", k.number) }

// stream is a set of clients that create contacts with idempotency keys until their server
// fails. Afterwards they retry the failed calls.
type stream struct {
	t      *testing.T
	next   atomic.Int64
	mu     sync.Mutex
	made   int // calls answered without a retry
	cut    []keyedCall
	status map[string]int // of the first retries
	slow   time.Duration  // of the slowest first retry
}

// write sends one call with an idempotency key and returns the HTTP status, or 0 if there
// is no complete response.
func (s *stream) write(ctx context.Context, d demoOutput, k keyedCall) int {
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

// run lets all clients write until a call of each client has failed, and records the failed
// calls. It calls the function fail once, after the given number of successful calls.
func (s *stream) run(d demoOutput, calls int, fail func()) {
	var clients sync.WaitGroup
	var answered atomic.Int64
	for range keyedClients {
		clients.Go(func() {
			for {
				k := keyedCall{s.next.Add(1)}
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

// retry sends each interrupted call of the stream once more, with the same idempotency key,
// and records the response statuses.
func (s *stream) retry(d demoOutput) {
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

// check checks that at least the share answeredShare of the first retries succeeded. It
// also checks that no call created a contact twice, by counting the creations in the audit
// log.
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
	lines, err := db.Audit().FindAudit(s.t.Context(), org, access.AuditFilter{Limit: 10_000_000})
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

// TestKeysOutliveAKilledServer checks idempotency keys when a server is killed during
// writes and started again. The first retry of each interrupted call must succeed, and no
// call may take effect twice.
func TestKeysOutliveAKilledServer(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		servers, chance := newServers(t, postgres), rand.New(rand.NewPCG(18, uint64(*kills)))
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
