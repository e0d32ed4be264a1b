package handover_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is one recipient, in the store and as the row that the methods of
// handover.Recipient make.
type world struct {
	store    handover.Store
	outcomes handover.OutcomeStore
	org, id  string
	row      handover.Recipient
	now      time.Time
}

func newWorld(ctx context.Context, t *testing.T, db *storage.DB) *world {
	t.Helper()
	w := &world{store: db.Handover(), outcomes: db.Outcomes(), org: core.NewID(), id: core.NewID(), now: start}
	w.row = handover.Recipient{SendID: w.id, Key: "a", Email: "a@example.com", State: handover.Pending, CreatedAt: start, At: start, NotBefore: start}
	if err := w.store.Add(ctx, w.org, w.id, []handover.Recipient{w.row}, start); err != nil {
		t.Fatal(err)
	}
	return w
}

// changes are the changes of a recipient, each in the store and by a method. "old" ones are
// for the attempt before the last.
var changes = map[string]func(ctx context.Context, w *world) (handover.Recipient, bool, error){
	"wait": func(_ context.Context, w *world) (handover.Recipient, bool, error) {
		w.now = w.now.Add(handover.Patience)
		return w.row, false, nil
	},
	"claim": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		next, ok := w.row.Claim("process", w.now)
		return next, ok, w.store.Claim(ctx, w.org, w.id, []handover.Recipient{w.row, {Key: "b", CreatedAt: start}}, "process", w.now)
	},
	"filter": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		next, ok := w.row.Filter(handover.ByTopic, w.now)
		return next, ok, w.store.Filter(ctx, w.org, w.id, []handover.Recipient{{Key: "a", CreatedAt: start, Tier: handover.ByTopic}}, w.now)
	},
	"observe": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		next, ok := w.row.Observe("m2", w.now)
		changed, err := w.store.Observe(ctx, w.org, []handover.Evidence{{SendID: w.id, Key: "a", MessageID: "m2"}, {SendID: core.NewID(), Key: "a", MessageID: "m3"}}, w.now)
		if (changed == 1) != ok {
			err = errors.Join(err, fmt.Errorf("Observe changed %d recipients", changed))
		}
		return next, ok, err
	},
	"give up": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		next, ok := w.row.GiveUp(w.now)
		n, err := w.store.GiveUp(ctx, w.org, w.now, 10)
		if (n == 1) != ok && err == nil {
			err = fmt.Errorf("gave up %d attempts", n)
		}
		return next, ok, err
	},
	"add": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		return w.row, false, w.store.Add(ctx, w.org, w.id, []handover.Recipient{{Key: "a", Email: "other@example.com"}}, w.now)
	},
	"accept without an id": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		next, ok := w.row.Accept(w.row.Attempt, "", w.now)
		return next, ok, w.store.Answer(ctx, w.org, w.id, []handover.Answer{{Key: "a", CreatedAt: start, Attempt: w.row.Attempt, Verdict: handover.Accepted}}, w.now)
	},
	"accept": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		return w.answer(ctx, handover.Accepted, 0)
	},
	"old accept": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		return w.answer(ctx, handover.Accepted, 1)
	},
	"refuse": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		return w.answer(ctx, handover.Refused, 0)
	},
	"old refuse": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		return w.answer(ctx, handover.Refused, 1)
	},
	"release": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		return w.answer(ctx, handover.Released, 0)
	},
	"old release": func(ctx context.Context, w *world) (handover.Recipient, bool, error) {
		return w.answer(ctx, handover.Released, 1)
	},
}

// answer stores an answer about the attempt that was made ago attempts before the last.
func (w *world) answer(ctx context.Context, verdict handover.Verdict, ago int) (next handover.Recipient, ok bool, err error) {
	a := handover.Answer{Key: "a", CreatedAt: start, Attempt: w.row.Attempt - ago, Verdict: verdict}
	switch verdict {
	case handover.Accepted:
		a.MessageID = "m1"
		next, ok = w.row.Accept(a.Attempt, a.MessageID, w.now)
	case handover.Refused:
		a.Reason = "the address is invalid"
		next, ok = w.row.Refuse(a.Attempt, a.Reason, w.now)
	case handover.Released:
		a.NotBefore = w.now.Add(time.Minute)
		next, ok = w.row.Release(a.Attempt, a.NotBefore, w.now)
	}
	return next, ok, w.store.Answer(ctx, w.org, w.id, []handover.Answer{a}, w.now)
}

// change makes a change and compares the store with the row.
func (w *world) change(ctx context.Context, t *testing.T, path []string, name string) {
	t.Helper()
	next, ok, err := changes[name](ctx, w)
	if err != nil {
		t.Fatalf("%v, %s: %v", path, name, err)
	}
	if ok {
		w.row = next
	}
	got, err := w.store.Recipient(ctx, w.org, w.id, "a")
	if diff := cmp.Diff(w.row, got); diff != "" || err != nil {
		t.Fatalf("%v, %s: the stored recipient differs from the protocol, %v (-want +got):\n%s", path, name, err, diff)
	}
	counts, err := w.outcomes.Counts(ctx, w.org, w.id)
	if diff := cmp.Diff(map[handover.State]int{w.row.State: 1}, counts); diff != "" || err != nil {
		t.Fatalf("%v, %s: counts: %v %s", path, name, err, diff)
	}
	tiers, err := w.outcomes.Tiers(ctx, w.org, w.id)
	want := map[handover.Tier]int{}
	if w.row.State == handover.Filtered {
		want[w.row.Tier] = 1
	}
	if diff := cmp.Diff(want, tiers); diff != "" || err != nil {
		t.Fatalf("%v, %s: filtered: %v %s", path, name, err, diff)
	}
	pending, err := w.store.Pending(ctx, w.org, w.id, w.now, 10)
	if _, claimable := w.row.Claim("p", w.now); err != nil || (len(pending) == 1) != claimable {
		t.Fatalf("%v, %s: %d recipients may be claimed: %v", path, name, len(pending), err)
	}
}

// TestStatementsFollowTheProtocol makes every change in every state of a recipient, with the
// store and with the methods of handover.Recipient, and compares the rows.
func TestStatementsFollowTheProtocol(t *testing.T) {
	t.Parallel()
	paths := [][]string{
		{},
		{"claim"},
		{"claim", "wait"},
		{"filter"},
		{"claim", "accept"},
		{"claim", "refuse"},
		{"claim", "wait", "give up"},
		{"claim", "release"},
		{"claim", "release", "wait"},
		{"claim", "release", "wait", "claim"},
		{"claim", "release", "wait", "claim", "wait", "give up"},
		{"observe"},
		{"claim", "wait", "give up", "observe"},
	}
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, path := range paths {
			for last := range changes {
				w := newWorld(t.Context(), t, db)
				for i, name := range path {
					w.change(t.Context(), t, path[:i], name)
				}
				w.change(t.Context(), t, path, last)
			}
		}
	})
}

// TestOtherOrganizationsAreUntouched checks that every change is limited to its organization.
func TestOtherOrganizationsAreUntouched(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store := t.Context(), db.Handover()
		mine, other, id := core.NewID(), core.NewID(), core.NewID()
		for _, org := range []string{mine, other} {
			if err := store.Add(ctx, org, id, []handover.Recipient{{Key: "a", Email: "a@example.com"}}, start); err != nil {
				t.Fatal(err)
			}
		}
		late := start.Add(handover.Patience)
		for name, change := range map[string]func() error{
			"claim": func() error {
				return store.Claim(ctx, mine, id, []handover.Recipient{{Key: "a", CreatedAt: start}}, "p", start)
			},
			"filter": func() error {
				return store.Filter(ctx, mine, id, []handover.Recipient{{Key: "a", CreatedAt: start, Tier: handover.ByAccount}}, start)
			},
			"answer": func() error {
				return store.Answer(ctx, mine, id, []handover.Answer{{Key: "a", CreatedAt: start, Attempt: 1, Verdict: handover.Refused, Reason: "no"}}, start)
			},
			"observe": func() error {
				_, err := store.Observe(ctx, mine, []handover.Evidence{{SendID: id, Key: "a", MessageID: "m"}}, start)
				return err
			},
			"give up": func() error { _, err := store.GiveUp(ctx, mine, late, 10); return err },
		} {
			if err := change(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got, err := store.Recipient(ctx, other, id, "a")
			if err != nil || got.State != handover.Pending || got.Attempt != 0 {
				t.Errorf("%s changed a recipient of another organization: %+v, %v", name, got, err)
			}
		}
		if err := store.Pause(ctx, mine, late); err != nil {
			t.Fatal(err)
		}
		if free, err := store.FreeAt(ctx, other); !free.IsZero() || err != nil {
			t.Errorf("the account of another organization is paused until %v, %v", free, err)
		}
		if err := store.Claim(ctx, other, id, []handover.Recipient{{Key: "a", CreatedAt: start}}, "p", start); err != nil {
			t.Fatal(err)
		}
		if n, err := store.GiveUp(ctx, mine, late, 10); n != 0 || err != nil {
			t.Errorf("gave up %d attempts of another organization, %v", n, err)
		}
	})
}

// TestRecipientsOfEarlierReleases passes a recipient that a release before the times of creation has
// added. Adding it again adds no second one.
func TestRecipientsOfEarlierReleases(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx := t.Context()
		w := newWorld(ctx, t, db)
		if _, err := db.Writer().ExecContext(ctx, "UPDATE handover_recipients SET created_at = 0"); err != nil {
			t.Fatal(err)
		}
		if err := w.store.Add(ctx, w.org, w.id, []handover.Recipient{w.row}, start); err != nil {
			t.Fatal(err)
		}
		due, err := w.store.Pending(ctx, w.org, w.id, start, 10)
		if err != nil || len(due) != 1 || due[0].CreatedAt.UnixMicro() != 0 {
			t.Fatalf("%+v, %v", due, err)
		}
		if err := w.store.Claim(ctx, w.org, w.id, due, "process", start); err != nil {
			t.Fatal(err)
		}
		answer := handover.Answer{Key: due[0].Key, CreatedAt: due[0].CreatedAt, Attempt: 1, Verdict: handover.Accepted, MessageID: "m"}
		if err := w.store.Answer(ctx, w.org, w.id, []handover.Answer{answer}, start); err != nil {
			t.Fatal(err)
		}
		if counts, err := w.outcomes.Counts(ctx, w.org, w.id); err != nil || len(counts) != 1 || counts[handover.Sent] != 1 {
			t.Errorf("%v, %v", counts, err)
		}
	})
}

// TestWorkersClaimDifferentRecipients checks that recipients which one transaction is about
// to claim are not offered to another.
func TestWorkersClaimDifferentRecipients(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store := t.Context(), db.Handover()
		org, id := core.NewID(), core.NewID()
		var all []handover.Recipient
		for i := range 40 {
			all = append(all, handover.Recipient{Key: fmt.Sprint("r", i), Email: fmt.Sprintf("r%d@example.com", i)})
		}
		if err := store.Add(ctx, org, id, all, start); err != nil {
			t.Fatal(err)
		}
		claims := make(chan []string)
		failed := make(chan error, 4)
		for range 4 {
			go func() {
				failed <- db.InTx(ctx, func(ctx context.Context) error {
					found, err := store.Pending(ctx, org, id, start, 10)
					var keys []string
					for _, r := range found {
						keys = append(keys, r.Key)
					}
					if err == nil {
						err = store.Claim(ctx, org, id, found, "p", start)
					}
					claims <- keys
					return err
				})
			}()
		}
		claimed := map[string]int{}
		for range 4 {
			for _, key := range <-claims {
				claimed[key]++
			}
		}
		for range 4 {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		if len(claimed) != 40 {
			t.Errorf("4 workers claimed %d of 40 recipients", len(claimed))
		}
	})
}
