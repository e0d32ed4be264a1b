package site

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Outcome is the result of taking or writing a beacon.
type Outcome string

// The outcomes of beacons. Accepted, TurnedOff and the reasons of refusals are known when the
// beacon arrives; Written, Duplicate, UnknownVisitor and Failed when the queue is written.
const (
	Accepted       Outcome = "accepted"
	TurnedOff      Outcome = "off"
	Malformed      Outcome = "malformed"
	UnknownKey     Outcome = "unknown_key"
	BadName        Outcome = "bad_name"
	LimitedAddress Outcome = "limited_address" // too many beacons of a client address
	LimitedVisitor Outcome = "limited_visitor" // too many events of a visitor
	QueueFull      Outcome = "queue_full"
	Written        Outcome = "written"
	Duplicate      Outcome = "duplicate"
	UnknownVisitor Outcome = "unknown_visitor" // an id that was never issued or is revoked
	Failed         Outcome = "failed"          // the database refused it for ten minutes
)

// Outcomes returns all outcomes of beacons.
func Outcomes() []Outcome {
	return []Outcome{
		Accepted, TurnedOff, Malformed, UnknownKey, BadName, LimitedAddress, LimitedVisitor, QueueFull, Written, Duplicate, UnknownVisitor, Failed,
	}
}

// keptDays is how long counts are stored.
const keptDays = 30

// maxNames is the maximum number of different refused names of an organization that a process
// counts by name on one day. maxNameLength is the number of characters that are stored.
const (
	maxNames      = 20
	maxNameLength = 64
)

// tally has counts that are not stored yet, and the refused names of a day. It is safe for
// use by several goroutines.
type tally struct {
	mu      sync.Mutex
	pending map[countKey]*DayCount
	day     time.Time
	names   map[string]map[string]bool // by organization
}

// countKey identifies a row of the counts.
type countKey struct {
	orgID   string
	day     time.Time
	outcome Outcome
	name    string
}

func newTally() *tally {
	return &tally{pending: map[countKey]*DayCount{}, names: map[string]map[string]bool{}}
}

// add counts n beacons of an organization. name is the refused name, "" for other outcomes.
func (t *tally) add(orgID string, outcome Outcome, name string, n int, at time.Time) {
	if n == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	day := dayOf(at)
	if !day.Equal(t.day) {
		t.day, t.names = day, map[string]map[string]bool{}
	}
	t.merge(DayCount{OrgID: orgID, Day: day, Count: Count{Outcome: outcome, Name: t.counted(orgID, name), Beacons: int64(n), LastAt: at}})
}

// counted returns the name under which a refused name is counted, "" beyond the limit.
func (t *tally) counted(orgID, name string) string {
	if name == "" {
		return ""
	}
	name = strings.ReplaceAll(name, "\x00", "") // PostgreSQL cannot store it
	if utf8.RuneCountInString(name) > maxNameLength {
		name = string([]rune(name)[:maxNameLength])
	}
	seen := t.names[orgID]
	if seen[name] {
		return name
	}
	if len(seen) == maxNames {
		return ""
	}
	if seen == nil {
		seen = map[string]bool{}
		t.names[orgID] = seen
	}
	seen[name] = true
	return name
}

func (t *tally) merge(c DayCount) {
	k := countKey{c.OrgID, c.Day, c.Outcome, c.Name}
	held := t.pending[k]
	if held == nil {
		t.pending[k] = &c
		return
	}
	held.Beacons += c.Beacons
	if c.LastAt.After(held.LastAt) {
		held.LastAt = c.LastAt
	}
}

// take returns the counts that are not stored yet. None are pending then.
func (t *tally) take() []DayCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]DayCount, 0, len(t.pending))
	for _, c := range t.pending {
		all = append(all, *c)
	}
	t.pending = map[countKey]*DayCount{}
	return all
}

// giveBack makes counts pending again.
func (t *tally) giveBack(counts []DayCount) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range counts {
		t.merge(c)
	}
}
