package simulator

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"sync"
	"time"
)

// Outbox holds the events of all accounts until they are done. Delivery is at least
// once: read events with Due, deliver them, and remove them with Done. Every
// configuration set publishes every type of event, and so does a message without one.
// It is safe for concurrent use.
type Outbox struct {
	s *Simulator

	mu       sync.Mutex
	disorder Disorder
}

// Event is one event record as the provider would publish it.
type Event struct {
	ID   int64 // unique in the file; duplicates have the same id
	At   time.Time
	JSON []byte
}

// Disorder configures irregular delivery. With the zero value, Due returns each event
// once, in the order of their times.
type Disorder struct {
	// Duplicates is the probability that a batch has an event twice, from 0 to 1.
	Duplicates float64
	// Shuffled changes the order of each batch.
	Shuffled bool
	// Late is the time from an event until it is due.
	Late time.Duration
}

// SetDisorder replaces the disorder. It is not stored.
func (o *Outbox) SetDisorder(d Disorder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.disorder = d
}

const (
	selectDue = `
SELECT id, due, event, unsubscribes FROM outbox WHERE org_id = $1 AND due <= $2 ORDER BY due, id LIMIT $3`
	deleteEvent = `DELETE FROM outbox WHERE org_id = $1 AND id = $2`
	leaveAll    = `UPDATE contacts SET unsubscribe_all = 1, updated_at = $3 WHERE org_id = $1 AND email_key = $2 AND unsubscribe_all = 0`
	hasLeft     = `UPDATE outbox SET unsubscribes = '' WHERE org_id = $1 AND id = $2`
	waitingOrgs = `SELECT DISTINCT org_id FROM outbox WHERE due <= $1 ORDER BY org_id`
)

// Due returns at most limit due events of an organization, plus duplicates. Events stay
// due until Done. An unsubscribe event takes effect on the contact when Due first
// returns it.
func (o *Outbox) Due(ctx context.Context, orgID string, now time.Time, limit int) ([]Event, error) {
	o.mu.Lock()
	d := o.disorder
	o.mu.Unlock()
	var due []Event
	err := o.s.write(ctx, orgID, func(w *change) {
		var left []leaver
		if due, left, w.err = readDue(w, now.Add(-d.Late), limit); w.err != nil {
			return
		}
		for _, l := range left {
			w.exec(leaveAll, orgID, l.emailKey, l.at)
			w.exec(hasLeft, orgID, l.event)
		}
	})
	if err != nil {
		return nil, failureOf(err)
	}
	return d.apply(due, o.s.seed), nil
}

// leaver is a contact with the time of the unsubscription.
type leaver struct {
	emailKey  string
	at, event int64
}

func readDue(w *change, until time.Time, limit int) ([]Event, []leaver, error) {
	rows, err := w.tx.QueryContext(w.ctx, selectDue, w.orgID, until.UnixMicro(), limit)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rows.Close() }() // errors are in rows.Err
	var due []Event
	var left []leaver
	for rows.Next() {
		var e Event
		var l leaver
		if err := rows.Scan(&e.ID, &l.at, &e.JSON, &l.emailKey); err != nil {
			return nil, nil, err
		}
		e.At, l.event = timeOf(l.at), e.ID
		due = append(due, e)
		if l.emailKey != "" {
			left = append(left, l)
		}
	}
	return due, left, rows.Err()
}

// apply returns the batch with the disorder. Equal batch and seed give an equal result.
func (d Disorder) apply(due []Event, seed uint64) []Event {
	if len(due) == 0 || d.Duplicates == 0 && !d.Shuffled {
		return due
	}
	random := rand.New(rand.NewPCG(seed, uint64(due[0].ID))) //nolint:gosec // repeatable on purpose
	handed := make([]Event, 0, len(due))
	for _, e := range due {
		handed = append(handed, e)
		if random.Float64() < d.Duplicates {
			handed = append(handed, e)
		}
	}
	if d.Shuffled {
		random.Shuffle(len(handed), func(i, j int) { handed[i], handed[j] = handed[j], handed[i] })
	}
	return handed
}

// Done removes events. Unknown ids are ignored.
func (o *Outbox) Done(ctx context.Context, orgID string, ids ...int64) error {
	return failureOf(o.s.write(ctx, orgID, func(w *change) {
		for _, id := range ids {
			w.exec(deleteEvent, orgID, id)
		}
	}))
}

// Waiting returns the organizations with events that happened until now.
func (o *Outbox) Waiting(ctx context.Context, now time.Time) ([]string, error) {
	rows, err := o.s.file.reader.QueryContext(ctx, waitingOrgs, now.UnixMicro())
	if err != nil {
		return nil, failureOf(err)
	}
	defer func() { _ = rows.Close() }() // errors are in rows.Err
	var orgs []string
	for rows.Next() {
		var org string
		if err := rows.Scan(&org); err != nil {
			return nil, failureOf(err)
		}
		orgs = append(orgs, org)
	}
	return orgs, failureOf(rows.Err())
}

// Next returns when an organization's next event is due; false when none waits.
func (o *Outbox) Next(ctx context.Context, orgID string) (time.Time, bool, error) {
	var due sql.NullInt64
	err := o.s.file.reader.QueryRowContext(ctx, `SELECT min(due) FROM outbox WHERE org_id = $1`, orgID).Scan(&due)
	return timeOf(due.Int64), due.Valid, failureOf(err)
}
