package site

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/core/visitorids"
)

// The limits per minute: beacons of a client address, and events of a visitor. A whole
// minute's number may come at once; then they become available again evenly.
const (
	addressLimit = 600
	visitorLimit = 60
)

// The bounds of the queue. A queued beacon takes its properties and overhead in bytes.
const (
	maxQueued      = 50_000
	maxQueuedBytes = 32 << 20
	overhead       = 200
)

// Visitors finds the contacts of visitor ids.
type Visitors interface {
	// ContactsOf returns the ids of the contacts that have the visitor ids. It skips ids that
	// no contact of their organization has.
	ContactsOf(ctx context.Context, ids []visitorids.Key) (map[visitorids.Key]string, error)
}

// Visit is a beacon of a known contact.
type Visit struct {
	ContactID, Name string
	// Key identifies the visit, so that a repeated beacon is not stored again. "" means that
	// repetitions cannot be found.
	Key        string
	At         time.Time
	Properties json.RawMessage
}

// Activities stores visits as activities with the source site.
type Activities interface {
	// RecordVisits stores visits in one transaction and returns how many of them were
	// duplicates. It may be repeated.
	RecordVisits(ctx context.Context, orgID string, visits []Visit) (duplicates int, err error)
}

// Config configures an [Intake]. All fields except Observe are required.
type Config struct {
	Store      Store
	Keys       *Keys
	Visitors   Visitors
	Activities Activities
	Clock      core.Clock
	Log        *slog.Logger
	// Observe is called with the outcome of n beacons, for metrics. It may be nil.
	Observe func(o Outcome, n int)
}

// Intake takes beacons into a queue in memory and writes the queue to the database. It is
// safe for use by several goroutines.
type Intake struct {
	Config
	addresses, visitors *throttle.Throttle
	tally               *tally

	mu     sync.Mutex
	queue  []queued
	bytes  int // of the queue
	wake   chan struct{}
	purged time.Time // the day of the last purge of counts; only Follow uses it
}

// queued is a beacon that waits for the writer.
type queued struct {
	visitor    visitorids.Key
	name, key  string
	at         time.Time
	properties json.RawMessage
}

// size returns the bytes that the beacon counts in the queue.
func (q queued) size() int { return len(q.properties) + overhead }

// NewIntake returns an Intake with an empty queue. Follow must run for the queue to be
// written.
func NewIntake(cfg Config) *Intake {
	return &Intake{
		Config: cfg, tally: newTally(), wake: make(chan struct{}, 1),
		addresses: throttle.New(addressLimit, time.Minute/addressLimit),
		visitors:  throttle.New(visitorLimit, time.Minute/visitorLimit),
	}
}

// Accept takes the body of a request and returns its outcome, which is Accepted, TurnedOff or
// the reason of a refusal. remote is the client address as host:port. It does not access the
// database. The caller must answer all outcomes except TurnedOff alike.
func (in *Intake) Accept(remote string, body []byte) Outcome {
	now := in.Clock()
	outcome := LimitedAddress
	if in.addresses.Take(throttle.NetworkOf(remote), now) == 0 {
		outcome = in.take(body, now)
	}
	in.observe(outcome, 1)
	return outcome
}

// take reads the body and queues the beacon. It finds the key first and decides about it
// last, so that known and unknown keys take the same steps.
func (in *Intake) take(body []byte, now time.Time) Outcome {
	b, err := Read(body)
	if err != nil {
		return Malformed
	}
	key, known := in.Keys.find(b.SiteKey, now)
	q := queued{
		visitor: visitorids.Key{OrgID: key.OrgID, Hash: visitorids.HashOf(b.VisitorID)},
		name:    b.Name, key: b.repetitionKey(), at: now, properties: b.Properties,
	}
	outcome, refused := Accepted, ""
	switch {
	case !isEventName(b.Name):
		outcome, refused = BadName, b.Name
	case !visitorids.IsID(b.VisitorID):
		outcome = UnknownVisitor
	case !b.isSessionVisit() && in.visitors.Take(b.SiteKey+"/"+b.VisitorID, now) != 0:
		outcome = LimitedVisitor
	}
	switch {
	case !known:
		return UnknownKey
	case key.Off:
		return TurnedOff
	}
	if outcome == Accepted && !in.push(q) {
		outcome = QueueFull
	}
	if outcome != Accepted {
		in.tally.add(key.OrgID, outcome, refused, 1, now)
	}
	return outcome
}

// isSessionVisit reports whether the beacon is the visit of a session, which is stored once.
// It does not count against the limit of events.
func (b Beacon) isSessionVisit() bool { return b.Name == visit && b.SessionID != "" }

// push adds a beacon to the queue. It returns false if the queue is full.
func (in *Intake) push(q queued) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) >= maxQueued || in.bytes+q.size() > maxQueuedBytes {
		return false
	}
	in.queue, in.bytes = append(in.queue, q), in.bytes+q.size()
	if len(in.queue) >= wakeAt {
		in.signal()
	}
	return true
}

// signal wakes Follow before its next tick.
func (in *Intake) signal() {
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// Queued returns the number of beacons in the queue.
func (in *Intake) Queued() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.queue)
}

func (in *Intake) observe(o Outcome, n int) {
	if in.Observe != nil && n > 0 {
		in.Observe(o, n)
	}
}
