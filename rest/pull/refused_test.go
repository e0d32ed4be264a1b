package pull_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/pull"
	"github.com/mailhelm/mailhelm/storage"
	inboxstore "github.com/mailhelm/mailhelm/storage/inboxes"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// counted counts the queries for pull links. Its other methods panic.
type counted struct {
	inboxes.TokenStore
	tokens  inboxes.TokenStore
	queries int
}

func (c *counted) InboxByToken(ctx context.Context, hash []byte) (inboxes.Inbox, error) {
	c.queries++
	return c.tokens.InboxByToken(ctx, hash)
}

// refusedWorld is a fetch host on a database, with links that do not work.
type refusedWorld struct {
	http.Handler
	counted
	// dead has the secrets of links that must not differ from each other, by what they are.
	dead    map[string]string
	expired string
	org     string
	minted  []inboxes.Inbox
}

// The links that must not differ. "unknown" is the one that others are compared with.
const (
	unknownLink = "unknown"
	revokedLink = "revoked"
	deletedLink = "of a deleted inbox"
	purgedLink  = "of a deleted inbox without messages"
)

func newRefusedWorld(tb testing.TB, db *storage.DB) *refusedWorld {
	tb.Helper()
	w := &refusedWorld{dead: map[string]string{unknownLink: access.MintLink().Secret}, org: core.NewID()}
	w.tokens = db.Inboxes()
	org := w.org
	mint := func(what string, end time.Time) inboxes.Inbox {
		secret := access.MintLink()
		w.dead[what] = secret.Secret
		i := inboxes.Inbox{ID: core.NewID(), OrgID: org, LocalPart: core.NewID(), Owner: "u", Caller: "k", Visibility: inboxes.Private, CreatedAt: start, ExpiresAt: end}
		i.First = inboxes.Token{ID: core.NewID(), InboxID: i.ID, Hash: secret.Hash, Label: "default", CreatedAt: start}
		stored, err := db.Inboxes().InsertInbox(tb.Context(), i)
		check(tb, err)
		if !stored {
			tb.Fatal("no inbox is stored")
		}
		w.minted = append(w.minted, i)
		return i
	}
	remove := func(i inboxes.Inbox) {
		_, err := db.Inboxes().DeleteInbox(tb.Context(), org, i.ID, start)
		check(tb, err)
	}
	revoked := mint(revokedLink, start.Add(time.Hour))
	check(tb, db.Inboxes().RevokeToken(tb.Context(), org, revoked.ID, revoked.First.ID, start))
	remove(mint(deletedLink, start.Add(time.Hour)))
	purged := mint(purgedLink, start.Add(time.Hour))
	remove(purged)
	_, err := db.Inboxes().MarkPurged(tb.Context(), inboxes.Target{OrgID: org, InboxID: purged.ID}, start)
	check(tb, err)
	mint("", start.Add(time.Minute))
	w.expired = w.dead[""]
	delete(w.dead, "")
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	check(tb, err)
	log := slog.New(slog.DiscardHandler)
	clock := func() time.Time { return start.Add(2 * time.Minute) }
	// Without the other stores, a link that does not work can ask for nothing else.
	all := inboxes.New(inboxes.Config{
		Tokens: &w.counted, Sealer: master, Waiting: inboxes.NewWaiting(inboxstore.NewNotices(db.DB), log), Domain: "inbox.test", Clock: clock, Log: log,
	})
	w.Handler = pull.New(pull.Config{
		Inboxes: all, Objects: &source{}, ObjectPath: "/o/", DocsURL: "https://app.test/docs", Log: log,
		Remote: func(r *http.Request) string { return r.RemoteAddr }, Clock: passing(start),
	})
	return w
}

// passing returns a clock that advances by a second with each call, so that no limit of
// requests is reached.
func passing(from time.Time) core.Clock {
	return func() time.Time {
		from = from.Add(time.Second)
		return from
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// requestsFor returns the requests that a link allows, by their form.
func requestsFor(secret string) map[string]*http.Request {
	made := map[string]*http.Request{}
	for name, r := range map[string][2]string{
		"messages": {http.MethodGet, "/messages?after=0&wait=25"}, "inbox": {http.MethodGet, ""}, "head": {http.MethodHead, "/messages"},
		"preflight": {http.MethodOptions, "/messages"}, "wrong query": {http.MethodGet, "/messages?wait=26"}, "wrong method": {http.MethodPost, "/messages"},
	} {
		made[name] = httptest.NewRequest(r[0], "/p/"+secret+r[1], nil)
		made[name].Header.Set("X-Request-Id", "req_1")
	}
	return made
}

// eachDatabase runs a test on both databases, one after the other, because it counts what the
// process allocates.
func eachDatabase(t *testing.T, test func(t *testing.T, db *storage.DB)) {
	t.Helper()
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) }) //nolint:paralleltest // see above
	}
}

// TestDeadLinksAreNotFound checks that the database has the hash of a link only as long as it
// works, or has expired. So a search for a revoked link is the same as for an unknown one.
func TestDeadLinksAreNotFound(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newRefusedWorld(t, db)
		hashes := map[string]bool{}
		for _, i := range w.minted {
			tokens, err := db.Inboxes().PullTokens(t.Context(), w.org, i.ID)
			check(t, err)
			for _, token := range tokens {
				hashes[string(token.Hash)] = true
			}
		}
		if len(hashes) != len(w.minted) || !hashes[string(access.HashSecret(w.expired))] {
			t.Errorf("%d hashes are stored for %d links", len(hashes), len(w.minted))
		}
		for what, secret := range w.dead {
			if hashes[string(access.HashSecret(secret))] {
				t.Errorf("the hash of a link that is %s is stored", what)
			}
		}
	})
}

// TestDeadLinksDoNotDiffer compares the answers to links that do not work: unknown, revoked, and
// of deleted inboxes. The status, the header and the body must be the same, and so must be the
// work for them: one query, and the same number of allocations. So their times do not tell
// them apart either. Only an expired inbox has an answer of its own.
func TestDeadLinksDoNotDiffer(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	eachDatabase(t, func(t *testing.T, db *storage.DB) {
		w := newRefusedWorld(t, db)
		for form, r := range requestsFor(w.dead[unknownLink]) {
			want := httptest.NewRecorder()
			queries := w.count(func() { w.ServeHTTP(want, r) })
			if asks := form == "messages" || form == "inbox" || form == "head"; asks != (queries == 1) || asks != (want.Code == http.StatusNotFound) || queries > 1 {
				t.Errorf("%s: %d queries, status %d", form, queries, want.Code)
			}
			cost := leastCost(w, r)
			for what, secret := range w.dead {
				other, got := requestsFor(secret)[form], httptest.NewRecorder()
				if n := w.count(func() { w.ServeHTTP(got, other) }); n != queries {
					t.Errorf("%s of a link that is %s: %d queries, want %d", form, what, n, queries)
				}
				if diff := cmp.Diff(want.Header(), got.Header()); diff != "" || got.Code != want.Code || got.Body.String() != want.Body.String() {
					t.Errorf("%s of a link that is %s: %d %s %s", form, what, got.Code, got.Body, diff)
				}
				if allocated := leastCost(w, other); math.Abs(allocated-cost) > 1 {
					t.Errorf("%s of a link that is %s: %v allocations, want %v", form, what, allocated, cost)
				}
			}
		}
		for form, r := range requestsFor(w.expired) {
			got := httptest.NewRecorder()
			w.ServeHTTP(got, r)
			if asks := form == "messages" || form == "inbox" || form == "head"; asks != (got.Code == http.StatusGone) {
				t.Errorf("%s of an expired inbox: %d", form, got.Code)
			}
		}
	})
}

func (w *refusedWorld) count(f func()) int {
	w.queries = 0
	f()
	return w.queries
}

// leastCost returns the least number of allocations for a request. Other goroutines and the race
// detector, which empties pools at random, only add some.
func leastCost(h http.Handler, r *http.Request) float64 {
	least := math.Inf(1)
	for range 60 {
		least = min(least, testing.AllocsPerRun(1, func() { h.ServeHTTP(discarded{}, r) }))
	}
	return least
}

// discarded is a response that is written nowhere. A recorder would keep its body, in memory
// that grows as it likes.
type discarded struct{}

func (discarded) Header() http.Header         { return http.Header{} }
func (discarded) Write(p []byte) (int, error) { return len(p), nil }
func (discarded) WriteHeader(int)             {}

// BenchmarkDeadLinks measures whether the time of an answer tells dead links apart. It asks for
// all in turn. For each it reports the median time, and the probability that a request takes
// longer than one for an unknown link: 0.5 means that the times tell nothing.
func BenchmarkDeadLinks(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *storage.DB{"sqlite": storagetest.SQLite, "postgres": storagetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			w := newRefusedWorld(b, open(b))
			w.dead["control"] = access.MintLink().Secret // another unknown link
			kinds := []string{unknownLink, "control", revokedLink, deletedLink, purgedLink}
			times := map[string][]time.Duration{}
			requests := map[string]*http.Request{}
			for _, kind := range kinds {
				requests[kind] = requestsFor(w.dead[kind])["messages"]
			}
			for b.Loop() {
				for _, kind := range kinds {
					began := time.Now()
					w.ServeHTTP(discarded{}, requests[kind])
					times[kind] = append(times[kind], time.Since(began))
				}
			}
			for n, kind := range kinds {
				longer := probabilityLonger(times[kind], times[unknownLink])
				slices.Sort(times[kind])
				b.ReportMetric(float64(times[kind][len(times[kind])/2].Nanoseconds()), fmt.Sprintf("ns-%d-median", n))
				b.ReportMetric(longer, fmt.Sprintf("p-%d-longer", n))
			}
		})
	}
}

// probabilityLonger returns the probability that an element of a is greater than one of b, with
// equal ones as a half (the area under the curve of the Mann-Whitney test).
func probabilityLonger(a, b []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(b))
	sum := 0.0
	for _, x := range a {
		below, _ := slices.BinarySearch(sorted, x)
		upTo, _ := slices.BinarySearch(sorted, x+1)
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(a)) / float64(len(b))
}
