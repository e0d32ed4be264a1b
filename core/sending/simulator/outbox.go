package simulator

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"sync"
	"time"
)

// Outbox has the undelivered events of all simulated accounts. Delivery is at least once:
// read events with Due, deliver them, and remove them with RemoveDelivered. Messages with
// any configuration set, or without one, have all types of events. It is safe for
// concurrent use.
type Outbox struct {
	s *Simulator

	mu       sync.Mutex
	disorder Disorder
}

// Event is one event record in the JSON format of SES. At is the time of the event.
type Event struct {
	ID   int64 // unique in the SQLite file; Due may return an event twice, with the same ID
	At   time.Time
	JSON []byte
}

// Disorder makes the delivery of events irregular, for tests. With the zero value, Due
// returns each event once, in the order of their times.
type Disorder struct {
	// Duplicates is the probability, from 0 to 1, that Due returns an event twice.
	Duplicates float64
	// Shuffled means that Due returns the events in random order.
	Shuffled bool
	// Late is how long after its time an event is due.
	Late time.Duration
}

// SetDisorder replaces the Outbox's [Disorder], the settings for irregular delivery. They
// are kept in memory only.
func (o *Outbox) SetDisorder(d Disorder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.disorder = d
}

const (
	selectDue = `
SELECT id, due, event, unsubscribes FROM outbox WHERE org_id = $1 AND due <= $2 ORDER BY due, id LIMIT +$3`
	deleteEvent       = `DELETE FROM outbox WHERE org_id = $1 AND id = $2`
	optOut            = `UPDATE contacts SET unsubscribe_all = 1, updated_at = $3 WHERE org_id = $1 AND email_key = $2 AND unsubscribe_all = 0`
	clearUnsubscribes = `UPDATE outbox SET unsubscribes = '' WHERE org_id = $1 AND id = $2`
	waitingOrgs       = `SELECT DISTINCT org_id FROM outbox WHERE due <= $1 ORDER BY org_id`
)

// Due returns at most limit due events of an organization, and possibly duplicates of them.
// Events stay due until RemoveDelivered removes them. When Due returns an unsubscribe event
// for the first time, it also opts the contact out.
func (o *Outbox) Due(ctx context.Context, orgID string, now time.Time, limit int) ([]Event, error) {
	o.mu.Lock()
	d := o.disorder
	o.mu.Unlock()
	var due []Event
	err := o.s.write(ctx, orgID, func(w *change) {
		var leavers []leaver
		if due, leavers, w.err = readDue(w, now.Add(-d.Late), limit); w.err != nil {
			return
		}
		for _, l := range leavers {
			w.exec(optOut, orgID, l.emailKey, l.at)
			w.exec(clearUnsubscribes, orgID, l.event)
		}
	})
	if err != nil {
		return nil, failureOf(err)
	}
	return d.apply(due, o.s.seed), nil
}

// leaver is a contact to opt out, with the time and the id of its unsubscribe event.
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
	var leavers []leaver
	for rows.Next() {
		var e Event
		var l leaver
		if err := rows.Scan(&e.ID, &l.at, &e.JSON, &l.emailKey); err != nil {
			return nil, nil, err
		}
		e.At, l.event = timeOf(l.at), e.ID
		due = append(due, e)
		if l.emailKey != "" {
			leavers = append(leavers, l)
		}
	}
	return due, leavers, rows.Err()
}

// apply returns the due events with duplicates and in random order, as configured. Equal
// events and an equal seed give an equal result.
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

// RemoveDelivered removes delivered events of an organization by their ids. It ignores
// unknown ids.
func (o *Outbox) RemoveDelivered(ctx context.Context, orgID string, ids ...int64) error {
	return failureOf(o.s.write(ctx, orgID, func(w *change) {
		for _, id := range ids {
			w.exec(deleteEvent, orgID, id)
		}
	}))
}

// WaitingOrgs returns the ids of the organizations that have events with a time up to now.
func (o *Outbox) WaitingOrgs(ctx context.Context, now time.Time) ([]string, error) {
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

// Next returns the time of an organization's earliest event, or false if it has no events.
func (o *Outbox) Next(ctx context.Context, orgID string) (time.Time, bool, error) {
	var due sql.NullInt64
	err := o.s.file.reader.QueryRowContext(ctx, `SELECT min(due) FROM outbox WHERE org_id = $1`, orgID).Scan(&due)
	return timeOf(due.Int64), due.Valid, failureOf(err)
}
