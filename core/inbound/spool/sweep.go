package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/objects"
)

const (
	// LeftoverAge is the age from which an object without a message is deleted. A message is
	// queued within minutes after it was stored. The time is long, so that an operator who starts
	// a server with an old copy of the database has not lost mail at once.
	LeftoverAge  = 7 * 24 * time.Hour
	sweepEvery   = time.Hour
	sweepTimeout = 10 * time.Minute
	// sweepPage is how many objects are listed and looked up at once, and sweepObjects how many of
	// a store in one run. The next run continues after them.
	sweepPage, sweepObjects = 1000, 50_000
)

// Places has the stores of organizations.
type Places interface {
	// All returns all stores in which mail of an organization may be.
	All(ctx context.Context, orgID string) ([]objects.Store, error)
}

// Holder has messages: the queue, or a destination.
type Holder interface {
	// Held returns what it needs of those of its messages that have one of the ids.
	Held(ctx context.Context, orgID string, messageIDs []string) ([]inbound.Holding, error)
}

// SweepArgs has the arguments of the sweep job, which takes none.
type SweepArgs struct{}

// Kind returns the name of the sweep job.
func (SweepArgs) Kind() string { return "received_mail_sweep" }

// SweepConfig configures a [Sweeper]. All fields are required.
type SweepConfig struct {
	Places Places
	// Holders are asked in this order. The queue is the first: a message leaves it in the
	// transaction in which a destination takes the message, so it is never unknown to all.
	Holders []Holder
	// Orgs returns the ids of all organizations.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// Sweeper deletes objects of messages that were stored and never queued, because their process
// was killed in between or could not delete them, and objects of interrupted attempts to process a
// message. It deletes only objects that a Spooler named.
type Sweeper struct {
	cfg SweepConfig

	mu sync.Mutex
	// positions are where the next runs continue.
	positions map[position]string
}

type position struct{ orgID, storeID string }

// NewSweeper returns a Sweeper.
func NewSweeper(cfg SweepConfig) *Sweeper {
	return &Sweeper{cfg: cfg, positions: map[position]string{}}
}

// Worker returns the job that sweeps the stores of all organizations every hour.
func (s *Sweeper) Worker() jobs.Worker[SweepArgs] {
	return jobs.Worker[SweepArgs]{Every: sweepEvery, Timeout: sweepTimeout, Work: func(ctx context.Context, _ SweepArgs) error {
		return jobs.ForEachOrg(ctx, "", s.cfg.Orgs, "sweep of received mail", s.Sweep)
	}}
}

// Sweep deletes the leftovers among the next objects of each store of an organization. A store
// that fails does not prevent the sweep of the others.
func (s *Sweeper) Sweep(ctx context.Context, orgID string) error {
	stores, err := s.cfg.Places.All(ctx, orgID)
	if err != nil {
		return err
	}
	var failures []error
	for _, store := range stores {
		if err := s.sweepStore(ctx, orgID, store); err != nil {
			failures = append(failures, fmt.Errorf("store %s: %w", store.ID(), err))
		}
	}
	return errors.Join(failures...)
}

func (s *Sweeper) sweepStore(ctx context.Context, orgID string, store objects.Store) error {
	at := position{orgID, store.ID()}
	s.mu.Lock()
	after := s.positions[at]
	s.mu.Unlock()
	before := s.cfg.Clock().Add(-LeftoverAge)
	for looked := 0; looked < sweepObjects; looked += sweepPage {
		keys, next, err := store.List(ctx, orgID, before, after, sweepPage)
		if err != nil {
			return err
		}
		leftovers, err := s.leftovers(ctx, orgID, keys)
		if err != nil {
			return err
		}
		if len(leftovers) > 0 {
			if err := store.Delete(ctx, leftovers...); err != nil {
				return err
			}
			s.cfg.Log.InfoContext(ctx, "objects of mail that was not accepted were deleted", "org_id", orgID, "store_id", store.ID(), "objects", len(leftovers))
		}
		after = next
		s.mu.Lock()
		s.positions[at] = after
		s.mu.Unlock()
		if after == "" {
			return nil
		}
	}
	return nil
}

// leftovers returns the keys of the objects that no holder needs.
func (s *Sweeper) leftovers(ctx context.Context, orgID string, keys []string) ([]string, error) {
	left := map[string][]string{} // keys by the id of the message
	for _, key := range keys {
		if id := messageOf(key); id != "" {
			left[id] = append(left[id], key)
		}
	}
	for _, holder := range s.cfg.Holders {
		if len(left) == 0 {
			return nil, nil
		}
		held, err := holder.Held(ctx, orgID, slices.Collect(maps.Keys(left)))
		if err != nil {
			return nil, err
		}
		for _, h := range held {
			if h.Any {
				delete(left, h.MessageID)
				continue
			}
			left[h.MessageID] = slices.DeleteFunc(left[h.MessageID], func(key string) bool { return slices.Contains(h.Keys, key) })
		}
	}
	all := slices.Concat(slices.Collect(maps.Values(left))...)
	slices.Sort(all)
	return all, nil
}
