package site

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/visitorids"
)

// WriteEvery is the longest time that a beacon waits in the queue while the database is
// available.
const WriteEvery = 500 * time.Millisecond

const (
	// wakeAt is the number of queued beacons that are written before the next tick.
	wakeAt = 1000
	// maxBatch is the number of beacons whose contacts are looked up together.
	maxBatch = 5000
	// chunk is the number of beacons of one organization in a transaction, so that it does not
	// delay other writes for long.
	chunk = 500
	// writeTimeout limits a transaction, stopTimeout the last writing of the queue.
	writeTimeout = 10 * time.Second
	stopTimeout  = 10 * time.Second
	retryEvery   = 100 * time.Millisecond
	// giveUpAfter is the age at which a beacon is dropped that the database refuses.
	giveUpAfter = 10 * time.Minute
	// countEvery is the number of ticks between two additions to the counts.
	countEvery = 10
)

// repetitionKey returns the key by which a repeated beacon is found: the session of a visit,
// the event id of other beacons. It returns "" for a beacon without them. Ids of different
// visitors do not collide.
func (b Beacon) repetitionKey() string {
	kind, id := "event", b.EventID
	if b.isSessionVisit() {
		kind, id = "session", b.SessionID
	}
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + b.VisitorID + "\x00" + id))
	return "site:" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// Follow writes the queue at each tick and whenever it is long, until ctx ends; ticks come
// every WriteEvery. Then it writes the rest of the queue, for at most ten seconds. The caller
// must have stopped calling Accept. Beacons that cannot be written stay in the queue and are
// tried again at the next tick.
func (in *Intake) Follow(ctx context.Context, ticks <-chan time.Time) {
	background := core.WithLane(context.WithoutCancel(ctx), core.Background)
	wake, passed := in.wake, 0
	for {
		select {
		case <-ctx.Done():
			in.writeRest(background)
			return
		case <-ticks:
			passed++
		case <-wake:
		}
		wake = in.wake
		if err := in.Flush(background); err != nil {
			in.Log.WarnContext(ctx, "beacons not written yet", "queued", in.Queued(), "cause", err)
			wake = nil // wait for a tick: the queue may be long, and the database needs time
		}
		if passed >= countEvery {
			passed = 0
			in.storeCounts(background)
		}
	}
}

// writeRest writes the queue when the process stops. It tries again while the database
// refuses it.
func (in *Intake) writeRest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	for {
		err := in.Flush(ctx)
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			in.Log.ErrorContext(ctx, "beacons are lost, because the database did not take them", "beacons", in.Queued(), "cause", err)
			return
		case <-time.After(retryEvery):
		}
	}
	in.storeCounts(ctx)
}

// Flush writes the queue. If it fails, the beacons that were not written are in the queue
// again. Only one call may run at a time.
func (in *Intake) Flush(ctx context.Context) error {
	for {
		batch := in.pop()
		if len(batch) == 0 {
			return nil
		}
		if left, err := in.write(ctx, batch); err != nil {
			in.giveBack(left)
			return err
		}
	}
}

// pop removes the oldest beacons from the queue.
func (in *Intake) pop() []queued {
	in.mu.Lock()
	defer in.mu.Unlock()
	n := min(len(in.queue), maxBatch)
	batch := in.queue[:n:n]
	in.queue = in.queue[n:]
	if len(in.queue) == 0 {
		in.queue = nil
	}
	for _, q := range batch {
		in.bytes -= q.size()
	}
	return batch
}

// giveBack puts beacons in front of the queue, except those that are too old. The queue may
// exceed its bound by the beacons that came during one write.
func (in *Intake) giveBack(left []queued) {
	oldest := in.Clock().Add(-giveUpAfter)
	kept := make([]queued, 0, len(left))
	dropped, size := map[string]int{}, 0
	for _, q := range left {
		if q.at.Before(oldest) {
			dropped[q.visitor.OrgID]++
			continue
		}
		kept, size = append(kept, q), size+q.size()
	}
	for orgID, n := range dropped {
		in.count(orgID, Failed, n, in.Clock())
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.queue, in.bytes = append(kept, in.queue...), in.bytes+size
}

// write stores a batch and returns the beacons that it could not store.
func (in *Intake) write(ctx context.Context, batch []queued) ([]queued, error) {
	bounded, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	contacts, err := in.Visitors.ContactsOf(bounded, distinctVisitors(batch))
	if err != nil {
		return batch, err
	}
	// A stable order keeps the beacons of a visitor in the order of their arrival.
	slices.SortStableFunc(batch, func(a, b queued) int { return cmp.Compare(a.visitor.OrgID, b.visitor.OrgID) })
	var left []queued
	var failures []error
	for start := 0; start < len(batch); {
		end := start + 1
		for end < len(batch) && end-start < chunk && batch[end].visitor.OrgID == batch[start].visitor.OrgID {
			end++
		}
		part := batch[start:end]
		start = end
		// After three failures the database is not available.
		if len(failures) < 3 {
			err := in.writePart(ctx, part, contacts)
			if err == nil {
				continue
			}
			failures = append(failures, err)
		}
		left = append(left, part...)
	}
	return left, errors.Join(failures...)
}

// writePart stores beacons of one organization in one transaction.
func (in *Intake) writePart(ctx context.Context, part []queued, contacts map[visitorids.Key]string) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	orgID, visits := part[0].visitor.OrgID, make([]Visit, 0, len(part))
	for _, q := range part {
		if id := contacts[q.visitor]; id != "" {
			visits = append(visits, Visit{ContactID: id, Name: q.name, Key: q.key, At: q.at, Properties: q.properties})
		}
	}
	duplicates := 0
	if len(visits) > 0 {
		var err error
		if duplicates, err = in.Activities.RecordVisits(ctx, orgID, visits); err != nil {
			return err
		}
	}
	at := part[len(part)-1].at
	in.count(orgID, Written, len(visits)-duplicates, at)
	in.count(orgID, Duplicate, duplicates, at)
	in.count(orgID, UnknownVisitor, len(part)-len(visits), at)
	return nil
}

// distinctVisitors returns the visitors of a batch, each once.
func distinctVisitors(batch []queued) []visitorids.Key {
	seen := make(map[visitorids.Key]bool, len(batch))
	all := make([]visitorids.Key, 0, len(batch))
	for _, q := range batch {
		if !seen[q.visitor] {
			seen[q.visitor] = true
			all = append(all, q.visitor)
		}
	}
	return all
}

// count counts n beacons in the metrics and for the page about the website.
func (in *Intake) count(orgID string, o Outcome, n int, at time.Time) {
	in.observe(o, n)
	in.tally.add(orgID, o, "", n, at)
}

// storeCounts adds the counts to the store, and deletes old ones once a day. It logs errors;
// the counts are then added later.
func (in *Intake) storeCounts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if counts := in.tally.take(); len(counts) > 0 {
		if err := in.Store.AddSiteCounts(ctx, counts); err != nil {
			in.tally.giveBack(counts)
			in.Log.WarnContext(ctx, "counts of beacons not stored yet", "cause", err)
			return
		}
	}
	if today := dayOf(in.Clock()); !today.Equal(in.purged) {
		if err := in.Store.PurgeSiteCounts(ctx, today.AddDate(0, 0, -keptDays)); err != nil {
			in.Log.WarnContext(ctx, "old counts of beacons not deleted", "cause", err)
			return
		}
		in.purged = today
	}
}
