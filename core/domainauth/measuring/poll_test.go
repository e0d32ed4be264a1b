package measuring_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/measuring"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	none       = "v=DMARC1; p=none; rua=mailto:r@bakery.example"
	quarantine = "v=DMARC1; p=quarantine; rua=mailto:r@bakery.example"
)

func TestPoll(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.zone.AddTXT(policyName, none)
		w.zone.AddTXT(domainName, "v=spf1 -all")
		w.zone.Add(t, `tok1._domainkey.bakery.example. CNAME tok1.dkim.mailer.example.`)
		w.poll()
		d := w.domain()
		if d.MeasuredAt == nil || !d.MeasuredAt.Equal(start) || d.Snapshot == nil || d.Snapshot.Discovery.Policy != dmarc.None {
			t.Fatalf("%+v", d)
		}
		if got := w.measureAt(); !got.Equal(start.Add(time.Hour)) {
			t.Errorf("next poll at %s", got)
		}
		asked := w.zone.Queries("")
		w.poll()
		if n := w.zone.Queries(""); n != asked {
			t.Errorf("%d queries before the next poll is due", n-asked)
		}
		w.Advance(time.Hour)
		w.poll()
		w.zone.SetTXT(policyName, quarantine)
		w.Advance(time.Hour)
		w.poll()
		want := []string{
			policyName + " 0-1 " + none, policyName + " 2-2 " + quarantine, domainName + " 0-2 v=spf1 -all",
			"tok1._domainkey.bakery.example 0-2 tok1.dkim.mailer.example", "tok2._domainkey.bakery.example 0-2 none",
		}
		if d := cmp.Diff(want, w.runs()); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"policy_change dns 2 1: The policy went from none to quarantine"}, w.events()); d != "" {
			t.Error(d)
		}
	})
}

// TestOutageIsNoEvent checks that DNS that does not answer changes no run and makes no event,
// and that polls become rarer.
func TestOutageIsNoEvent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.zone.AddTXT(policyName, none)
		w.poll()
		before := w.runs()
		w.zone.Break(policyName, domainName, "_dmarc.example", "tok1._domainkey.bakery.example", "tok2._domainkey.bakery.example")
		for _, want := range []time.Duration{time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 6 * time.Hour} {
			w.Advance(w.measureAt().Sub(w.Now()))
			w.poll()
			if got := w.measureAt().Sub(w.Now()); got != want {
				t.Errorf("%s after the start: next poll in %s, want %s", w.Now().Sub(start), got, want)
			}
		}
		if d := cmp.Diff(before, w.runs()); d != "" {
			t.Error(d)
		}
		if d := w.domain(); !d.MeasuredAt.Equal(start) || !d.Snapshot.At.Equal(start) || d.Snapshot.Discovery.Policy != dmarc.None {
			t.Errorf("%+v", d)
		}
		w.zone.Mend()
		w.Advance(w.measureAt().Sub(w.Now()))
		w.poll()
		w.refresh()
		if got := w.events(); len(got) > 0 {
			t.Errorf("events %v", got)
		}
		if got := w.measureAt().Sub(w.Now()); got != time.Hour {
			t.Errorf("next poll in %s after DNS answers again", got)
		}
	})
}

// TestPollsOfNewDomainsBackOff checks the first times between polls of a domain about which DNS
// never answered.
func TestPollsOfNewDomainsBackOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.zone.Break(policyName)
	var waits []time.Duration
	for range 5 {
		w.poll()
		waits = append(waits, w.measureAt().Sub(w.Now()))
		w.Advance(w.measureAt().Sub(w.Now()))
	}
	want := []time.Duration{5 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute}
	if d := cmp.Diff(want, waits); d != "" {
		t.Error(d)
	}
	if d := w.domain(); d.MeasuredAt != nil {
		t.Errorf("measured at %s", d.MeasuredAt)
	}
}

// TestPollsAreSpread checks the earliest and the latest time of the next poll.
func TestPollsAreSpread(t *testing.T) {
	t.Parallel()
	for random, want := range map[float64]time.Duration{0: 50 * time.Minute, 0.999999999999: 70 * time.Minute} {
		w := newWorld(t, storagetest.SQLite(t))
		cfg := w.config()
		cfg.Random = func() float64 { return random }
		w.must(measuring.New(cfg).PollDue(t.Context()))
		if got := w.measureAt().Sub(start); (got - want).Abs() > time.Millisecond {
			t.Errorf("next poll in %s, want %s", got, want)
		}
	}
}

// TestMadeUpDomainsAreNotPolled checks that DNS is not asked about the domains of a simulated
// account, nor without a resolver.
func TestMadeUpDomainsAreNotPolled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.polled = false
	w.poll()
	cfg := w.config()
	cfg.Resolver = nil
	w.Advance(2 * time.Hour)
	w.must(measuring.New(cfg).PollDue(t.Context()))
	if n := w.zone.Queries(""); n > 0 || w.domain().Snapshot != nil || !w.measureAt().Equal(start.Add(time.Hour)) {
		t.Errorf("%d queries, next poll at %s", n, w.measureAt())
	}
}

// TestConcurrentPolls checks that processes that poll at the same time ask once.
func TestConcurrentPolls(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		var processes sync.WaitGroup
		for range 4 {
			processes.Go(func() {
				if err := w.measuring.PollDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		processes.Wait()
		if n := w.zone.Queries(policyName); n != 1 {
			t.Errorf("%d queries", n)
		}
	})
}

// TestRequest checks that a domain is measured on request once an hour, and that of concurrent
// requests one is queued.
func TestRequest(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.poll()
		w.Advance(10 * time.Minute)
		id := w.id()
		var queued, refused atomic.Int64
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				err := db.InTx(t.Context(), func(ctx context.Context) error {
					ok, wait, err := w.measuring.Request(ctx, w.org, id, w.Now())
					switch {
					case err != nil:
					case ok && wait == 0:
						queued.Add(1)
					case !ok && wait == time.Hour:
						refused.Add(1)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if queued.Load() != 1 || refused.Load() != 7 {
			t.Fatalf("%d queued, %d refused", queued.Load(), refused.Load())
		}
		args, ok := w.queued[0].(measuring.PollArgs)
		if want := (measuring.PollArgs{OrgID: w.org, DomainID: id}); !ok || args != want || len(w.queued) != 1 {
			t.Fatalf("queued %v", w.queued)
		}
		w.zone.AddTXT(policyName, none)
		w.Advance(time.Second)
		work(t, w.measuring.PollWorker(), args)
		if d := w.domain(); !d.MeasuredAt.Equal(w.Now()) || d.Snapshot.Discovery.Policy != dmarc.None {
			t.Errorf("%+v", d)
		}
		if d := cmp.Diff([]string{"policy_change dns 0.2 1: A DMARC record was published, with the policy none"}, w.events()); d != "" {
			t.Errorf("the request refreshes too: %s", d)
		}
		w.Advance(time.Hour - 1500*time.Millisecond)
		if ok, wait, err := w.measuring.Request(t.Context(), w.org, id, w.Now()); ok || wait != time.Second || err != nil {
			t.Errorf("half a second early: %v, %s, %v", ok, wait, err)
		}
		w.Advance(time.Second)
		if ok, wait, err := w.measuring.Request(t.Context(), w.org, id, w.Now()); !ok || wait != 0 || err != nil {
			t.Errorf("an hour later: %v, %s, %v", ok, wait, err)
		}
		if _, _, err := w.measuring.Request(t.Context(), "another organization", id, w.Now()); err == nil {
			t.Error("another organization requests a measurement")
		}
		work(t, w.measuring.PollWorker(), measuring.PollArgs{OrgID: "another organization", DomainID: id})
	})
}

func work[T jobs.Args](t *testing.T, worker jobs.Worker[T], args T) {
	t.Helper()
	if err := worker.Work(t.Context(), args); err != nil {
		t.Error(err)
	}
}

// TestEarlierPollIsIgnored checks that a poll that began earlier and ended later than another one
// changes nothing, and that a request during a poll is not lost.
func TestEarlierPollIsIgnored(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.zone.AddTXT(policyName, none)
		w.poll()
		store := db.DomainMeasuring()
		snapshot := *w.domain().Snapshot
		snapshot.LookedAt, snapshot.At = start.Add(-time.Minute), start.Add(-time.Minute)
		w.save(measuring.Poll{Snapshot: snapshot, Lease: w.measureAt(), Next: start})
		if got := w.domain(); !got.MeasuredAt.Equal(start) || !w.measureAt().Equal(start.Add(time.Hour)) {
			t.Errorf("measured at %s, next poll at %s", got.MeasuredAt, w.measureAt())
		}
		d, err := store.DomainToPoll(t.Context(), w.org, w.id())
		w.must(err)
		lease := start.Add(2 * time.Hour)
		if ok, err := store.ClaimPoll(t.Context(), d, lease); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if ok, err := store.ClaimPoll(t.Context(), d, lease); ok || err != nil {
			t.Errorf("claimed twice: %v, %v", ok, err)
		}
		requested := start.Add(90 * time.Minute)
		if ok, _, err := w.measuring.Request(t.Context(), w.org, d.ID, requested); !ok || err != nil {
			t.Fatal(ok, err)
		}
		snapshot.LookedAt, snapshot.At = start.Add(time.Hour), start.Add(time.Hour)
		w.save(measuring.Poll{Snapshot: snapshot, Lease: lease, Next: start.Add(9 * time.Hour)})
		if got := w.domain(); !got.MeasuredAt.Equal(start.Add(time.Hour)) || !w.measureAt().Equal(requested) {
			t.Errorf("measured at %s, next poll at %s", got.MeasuredAt, w.measureAt())
		}
	})
}
