package runner_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// crowd is contacts that run through one workflow, in two processes with connections of their
// own, while others write the same contacts.
type crowd struct {
	*world
	other *world
	id    string
	// contacts are sorted by address, as bulk writes sort them. Their ids have another order.
	contacts []contacts.Contact
	// writes counts the writes of each contact.
	writes []atomic.Int64
	log    lockedBuffer
}

// lockedBuffer is a buffer for the log of several processes.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// TestProcessesAndWritersShareContacts lets two processes move many due runs that change their
// contacts, while other callers change the same contacts, one by one and many in a transaction.
// No call may fail, no change may be lost, and each step may be taken once.
func TestProcessesAndWritersShareContacts(t *testing.T) {
	t.Parallel()
	n := 150
	if enginetest.Full() {
		n = 5000
	}
	address := enginetest.PostgresURL(t)
	first := storagetest.Open(t, storage.Config{URL: address, CallerWait: time.Minute})
	second := storagetest.Open(t, storage.Config{URL: address, CallerWait: time.Minute})
	c := &crowd{world: newWorld(t, first), writes: make([]atomic.Int64, n)}
	c.other = connect(second, c.org)
	for _, w := range []*world{c.world, c.other} {
		w.runnerLog = slog.New(slog.NewTextHandler(&c.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		w.runner = w.newRunner()
	}
	c.id = c.launch(t, "enter on activity.signup\nwait 1 hour\nset attr.visits = 7\nadd to list \"vip\"\nif attr.visits > 3 {\nsend \"tips\"\n}\nset attr.vip = true")
	c.sign(t, n)
	c.settle(t)
	c.set(c.Now().Add(time.Hour))
	c.other.set(c.Now())
	c.run(t)
	c.check(t)
}

// sign adds contacts, who sign up.
func (c *crowd) sign(t *testing.T, n int) {
	t.Helper()
	var signups []activities.Activity
	for i := range n {
		person := contacts.Contact{
			ID: core.NewID(), Email: fmt.Sprintf("%05d@example.com", (i*7919)%n), Status: contacts.Active, Attributes: map[string]any{}, CreatedAt: start, UpdatedAt: start,
		}
		c.contacts = append(c.contacts, person)
		signups = append(signups, activities.Activity{ID: core.NewID(), ContactID: person.ID, Name: "signup", OccurredAt: start, ReceivedAt: start})
	}
	slices.SortFunc(c.contacts, func(a, b contacts.Contact) int { return strings.Compare(a.Email, b.Email) })
	must(t, c.db.InTx(t.Context(), func(ctx context.Context) error {
		for _, person := range c.contacts {
			if err := c.db.Contacts().InsertContact(ctx, c.org, person); err != nil {
				return err
			}
		}
		return c.observer.ObserveActivities(ctx, c.org, signups)
	}))
}

// run lets the processes work until no run is left, while others write.
func (c *crowd) run(t *testing.T) {
	t.Helper()
	var done atomic.Bool
	var writing, working sync.WaitGroup
	for writer := range 4 {
		random := rand.New(rand.NewPCG(uint64(writer), 1))
		writing.Go(func() {
			for !done.Load() && !t.Failed() {
				count := 1
				if random.IntN(4) == 0 {
					count = 50
				}
				c.write(t, random.Perm(len(c.contacts))[:count])
			}
		})
	}
	for _, w := range []*world{c.world, c.other} {
		working.Go(func() {
			for c.active(t) > 0 && !t.Failed() {
				for _, look := range []func(context.Context) error{w.runner.Look, w.mailer.Look} {
					if err := look(t.Context()); err != nil {
						t.Error(err)
					}
				}
				w.runner.Join()
				w.mailer.Join()
			}
		})
	}
	working.Wait()
	done.Store(true)
	writing.Wait()
}

// active returns the number of runs that have not ended.
func (c *crowd) active(t *testing.T) int {
	counts, err := workflowstore.NewRunStore(c.db.DB).Counts(t.Context(), c.org, []string{c.id})
	if err != nil {
		t.Error(err)
		return 0
	}
	return counts[c.id][engine.Active]
}

// write counts up an attribute of contacts in one transaction, in the order of their addresses.
func (c *crowd) write(t *testing.T, which []int) {
	slices.Sort(which)
	err := c.other.db.InTx(t.Context(), func(ctx context.Context) error {
		for _, i := range which {
			person, err := c.other.db.Contacts().ContactByID(ctx, c.org, c.contacts[i].ID)
			if err != nil {
				return err
			}
			before, _ := person.Attributes["city"].(string)
			n, _ := strconv.Atoi(before) // "" is 0
			person.Attributes["city"] = strconv.Itoa(n + 1)
			if err := c.other.db.Contacts().UpdateContact(ctx, c.org, person); err != nil {
				return err
			}
			if err := c.other.changed(ctx, person.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Errorf("a write of %d contacts: %v", len(which), err)
		return
	}
	for _, i := range which {
		c.writes[i].Add(1)
	}
}

// check compares the contacts, the messages and the timelines.
func (c *crowd) check(t *testing.T) {
	t.Helper()
	if text := c.log.text.String(); text != "" {
		t.Errorf("the processes logged\n%.3000s", text)
	}
	got := map[string]int{}
	for _, m := range append(slices.Clone(c.sent), c.other.sent...) {
		got[m.To[0]]++
	}
	total := int64(0)
	for i, person := range c.contacts {
		found, err := c.db.Contacts().ContactByID(t.Context(), c.org, person.ID)
		must(t, err)
		want := c.writes[i].Load()
		total += want
		city, _ := found.Attributes["city"].(string)
		if n, _ := strconv.ParseInt("0"+city, 10, 64); n != want || found.Attributes["visits"] != 7.0 || found.Attributes["vip"] != true || len(found.Lists) != 1 || got[person.Email] != 1 {
			t.Fatalf("%s has %v and %d lists after %d writes, and got %d messages", person.Email, found.Attributes, len(found.Lists), want, got[person.Email])
		}
	}
	nodes, err := workflowstore.NewRunStore(c.db.DB).Nodes(t.Context(), c.org, c.id, 1)
	must(t, err)
	for _, node := range nodes {
		if node.Runs != len(c.contacts) || node.Entries != len(c.contacts) {
			t.Errorf("the step %s was entered %d times by %d runs", node.Path, node.Entries, node.Runs)
		}
	}
	if len(nodes) != 6 {
		t.Errorf("%d steps were entered", len(nodes))
	}
	t.Logf("%d runs and %d writes of contacts", len(c.contacts), total)
}
