package spool_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"github.com/mailhelm/mailhelm/storage"
	inboundstore "github.com/mailhelm/mailhelm/storage/inbound"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a spooler on a database. breaks, if it is not nil, is the error of the queue.
type world struct {
	inbound.Queue
	stores *inboundtest.Stores
	folder string
	spool  *spool.Spooler
	woken  atomic.Int64
	breaks error

	mu       sync.Mutex
	outcomes []spool.Outcome
}

func (w *world) count(o spool.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes = append(w.outcomes, o)
}

func (w *world) Add(ctx context.Context, tasks []inbound.Task) error {
	if w.breaks != nil {
		return w.breaks
	}
	return w.Queue.Add(ctx, tasks)
}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		test(t, newWorld(t, inboundstore.NewQueue(db.DB)))
	})
}

// newWorld returns a spooler with a queue.
func newWorld(t *testing.T, queue inbound.Queue) *world {
	t.Helper()
	w := &world{Queue: queue, stores: inboundtest.NewStores(t, func() time.Time { return now }), folder: t.TempDir()}
	w.spool = w.open(nil)
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) open(own inbound.Worker) *spool.Spooler {
	return spool.New(spool.Config{
		Stores: w.stores, Queue: w, Folder: w.folder, Worker: own, Wake: func() { w.woken.Add(1) }, Count: w.count, Log: slog.New(slog.DiscardHandler),
	})
}

func envelope(org string) inbound.Envelope {
	return inbound.Envelope{ID: core.NewID(), Sender: "a@example.com", ReceivedAt: now, Routes: []inbound.Route{{Kind: inbound.ToInbox, OrgID: org, TargetID: "t"}}}
}

// queued returns all tasks.
func (w *world) queued(t *testing.T) []inbound.Task {
	t.Helper()
	found, err := w.Claim(t.Context(), now, now.Add(time.Minute), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// stored returns the content of the message of a task.
func (w *world) stored(t *testing.T, task inbound.Task) string {
	t.Helper()
	store, err := w.stores.At(t.Context(), task.OrgID, task.StoreID)
	if err != nil {
		t.Fatal(err)
	}
	content, found := objectstest.Content(t, store, task.RawKey)
	if !found {
		t.Fatalf("there is no object %s", task.RawKey)
	}
	return content
}

func TestAcceptedMessagesAreStoredAndQueued(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		org := core.NewID()
		bodies := map[string]string{}
		var mu sync.Mutex
		var clients sync.WaitGroup
		for i, size := range []int{0, 1, 11_000, 256 << 10, 256<<10 + 1, 1 << 20} {
			clients.Go(func() {
				e, body := envelope(org), strings.Repeat(string(rune('a'+i)), size)
				if err := w.spool.Accept(t.Context(), e, iotest.HalfReader(strings.NewReader(body))); err != nil {
					t.Errorf("%d bytes: %v", size, err)
				}
				mu.Lock()
				defer mu.Unlock()
				bodies[e.ID] = body
			})
		}
		clients.Wait()
		tasks := w.queued(t)
		for _, task := range tasks {
			want := bodies[task.Envelope.ID]
			if got := w.stored(t, task); got != want || task.Envelope.Size != int64(len(want)) {
				t.Errorf("stored %d bytes with the size %d, want %d", len(got), task.Envelope.Size, len(want))
			}
		}
		if len(tasks) != len(bodies) || w.woken.Load() != int64(len(bodies)) {
			t.Errorf("%d tasks, woken %d times, want %d", len(tasks), w.woken.Load(), len(bodies))
		}
		if want := slices.Repeat([]spool.Outcome{spool.Accepted}, len(bodies)); !slices.Equal(w.outcomes, want) {
			t.Errorf("counted %v, want %v", w.outcomes, want)
		}
		if left, err := os.ReadDir(w.folder); len(left) != 0 || err != nil {
			t.Errorf("temporary files remain: %v, %v", left, err)
		}
	})
}

func TestRefusedMessagesLeaveNothing(t *testing.T) {
	t.Parallel()
	cut := errors.New("the client has gone")
	full := errors.Join(objects.ErrUnavailable, errors.New("no space left"))
	for name, tc := range map[string]struct {
		body   string
		cut    error
		store  error
		queue  error
		folder bool
		routes bool
		want   error
		counts spool.Outcome
	}{
		"client gone":                    {"half", cut, nil, nil, true, true, cut, spool.Interrupted},
		"client gone in a large message": {strings.Repeat("x", 1<<20), cut, nil, nil, true, true, cut, spool.Interrupted},
		"no folder for a large message":  {strings.Repeat("x", 1<<20), nil, nil, nil, false, true, fs.ErrNotExist, spool.DiskFailed},
		"store full":                     {"whole", nil, full, nil, true, true, objects.ErrUnavailable, spool.StoreFailed},
		"database gone":                  {"whole", nil, nil, io.ErrUnexpectedEOF, true, true, io.ErrUnexpectedEOF, spool.QueueFailed},
		"no route":                       {"whole", nil, nil, nil, true, false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, w *world) {
				put := ""
				w.breaks = tc.queue
				w.stores.Fail = func(call, key string) error {
					if call != "put" {
						return nil
					}
					put = key
					return tc.store
				}
				if !tc.folder {
					must(t, os.Remove(w.folder))
				}
				org := core.NewID()
				e := envelope(org)
				if !tc.routes {
					e.Routes = nil
				}
				body := io.Reader(strings.NewReader(tc.body))
				if tc.cut != nil {
					body = io.MultiReader(body, iotest.ErrReader(tc.cut))
				}
				err := w.spool.Accept(t.Context(), e, body)
				if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
					t.Errorf("error %v, want %v", err, tc.want)
				}
				if want := slices.DeleteFunc([]spool.Outcome{tc.counts}, func(o spool.Outcome) bool { return o == "" }); !slices.Equal(w.outcomes, want) {
					t.Errorf("counted %v, want %v", w.outcomes, want)
				}
				if put != "" {
					store, _ := w.stores.Of(t.Context(), org)
					if content, found := objectstest.Content(t, store, put); found {
						t.Errorf("the message remains: %q", content)
					}
				}
				if tasks := w.queued(t); len(tasks) != 0 || w.woken.Load() != 0 {
					t.Errorf("tasks %v, woken %d times", tasks, w.woken.Load())
				}
			})
		})
	}
}

// TestSameMessageTwice passes a message twice, as a provider does, and the second time the
// database fails. The message of the first call must stay.
func TestSameMessageTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		e := envelope(core.NewID())
		if err := w.spool.Accept(t.Context(), e, strings.NewReader("first")); err != nil {
			t.Fatal(err)
		}
		w.breaks = io.ErrUnexpectedEOF
		if err := w.spool.Accept(t.Context(), e, strings.NewReader("again")); err == nil {
			t.Fatal("the second call succeeded without a database")
		}
		tasks := w.queued(t)
		if len(tasks) != 1 || w.stored(t, tasks[0]) != "first" {
			t.Errorf("tasks %+v", tasks)
		}
	})
}

// worker is a worker with one place. It notes what it gets.
type worker struct {
	full     bool
	begun    []inbound.Task
	released int
}

func (w *worker) Reserve(context.Context) inbound.Place {
	if w.full {
		return nil
	}
	w.full = true
	return w
}

func (w *worker) LeasedUntil() time.Time { return now.Add(time.Minute) }

func (w *worker) Begin(t inbound.Task) { w.begun = append(w.begun, t) }

func (w *worker) Release() { w.released++ }

// TestWorkerOfThisProcess checks which messages are left to the worker of the process, which to
// the queue, and that a place is given back if a message is not accepted.
func TestWorkerOfThisProcess(t *testing.T) {
	t.Parallel()
	small, large := "Subject: a\r\n\r\n", strings.Repeat("x", 1<<20)
	for name, tc := range map[string]struct {
		body             string
		full             bool
		judged           *inbound.Verdicts
		breaks           error
		begins, releases bool
	}{
		"small":                 {body: small, begins: true},
		"no place":              {body: small, full: true},
		"larger than memory":    {body: large},
		"message of a provider": {body: small, judged: &inbound.Verdicts{}},
		"database gone":         {body: small, breaks: io.ErrUnexpectedEOF, releases: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, w *world) {
				own := &worker{full: tc.full}
				w.breaks = tc.breaks
				w.spool = w.open(own)
				e := envelope(core.NewID())
				e.Judged = tc.judged
				if err := w.spool.Accept(t.Context(), e, strings.NewReader(tc.body)); !errors.Is(err, tc.breaks) {
					t.Fatalf("error %v", err)
				}
				if (len(own.begun) == 1) != tc.begins || (own.released == 1) != tc.releases {
					t.Fatalf("begun %d, released %d", len(own.begun), own.released)
				}
				left := w.queued(t)
				if accepted := tc.breaks == nil; (len(left) == 1) != (accepted && !tc.begins) || (w.woken.Load() == 1) != (accepted && !tc.begins) {
					t.Errorf("%d tasks are left to the queue, woken %d times", len(left), w.woken.Load())
				}
				if !tc.begins {
					return
				}
				if task := own.begun[0]; string(task.Raw) != tc.body || task.Envelope.ID != e.ID || task.Attempts != 1 || w.stored(t, task) != tc.body {
					t.Errorf("the worker got %+v", task)
				}
			})
		})
	}
}
