package replay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// Beat is the heartbeat interval. At each heartbeat, a process stores the time and reads
	// the heartbeats of the other processes. It also retries to release reservations of
	// idempotency keys whose release failed.
	Beat = time.Second
	// Silence is the time without a heartbeat after which a process counts as ended. Other
	// processes notice this within another second.
	Silence = 3500 * time.Millisecond
	// maxUnreturned is the maximum number of reservations that a process keeps in memory to
	// release them later, because their release failed. Further ones end with their lease.
	maxUnreturned = 10_000
)

// Heartbeat is a sign of life of a process.
type Heartbeat struct {
	// At is the time by the clock of the process.
	At time.Time
	// Role is what the process does: all, api or worker. It is "" for a process of an earlier
	// version of this program.
	Role string
}

// ProcessStore stores the time of the last heartbeat of each process.
type ProcessStore interface {
	// Beat stores a heartbeat of a process.
	Beat(ctx context.Context, process string, beat Heartbeat) error
	// Beats returns the last heartbeat of each process, by process id.
	Beats(ctx context.Context) (map[string]Heartbeat, error)
	// EndProcess deletes the stored heartbeat of a process.
	EndProcess(ctx context.Context, process string) error
	// EndReservations ends the unexpired reservations of idempotency keys by all processes
	// except one, and returns their number.
	EndReservations(ctx context.Context, except string, now time.Time) (int, error)
}

// ProcessConfig configures a Process. All members except Role are required.
type ProcessConfig struct {
	// Role is what this process does. Other processes read it; see [Process.Alive].
	Role    string
	Store   ProcessStore
	Replays Store
	Clock   core.Clock
	Log     *slog.Logger
	// Alone is true if no other process uses the database. Then no heartbeats are stored,
	// and reservations of other processes must be left over from processes that ended.
	Alone bool
}

// Process keeps track of the reservations of idempotency keys by this process, and
// determines which other processes still run. Another process has ended if its row is
// deleted, or if its heartbeat has not changed for the time Silence, by this process's
// clock. The time in a heartbeat, which is by the clock of the other process, matters only
// when this process reads a heartbeat of the other process for the first time. Imports of
// files use [Process.HasEnded] to take over the work of a process that has ended.
//
// If a running process is wrongly considered ended, one of its calls fails. No call takes
// effect twice, because a reservation that was taken over cannot complete. A Process is
// safe for concurrent use.
type Process struct {
	ProcessConfig
	id string

	mu         sync.Mutex
	held       map[Token]bool
	unreturned map[Token]unreturnedKey
	seen       map[string]sight
	looks      int // number of calls of the method look so far
	// the number, counted by looks, of the call of the method look whose result is in seen
	shown  int
	looked time.Time     // time of the last successful read of heartbeats
	ticked chan struct{} // closed by the next Tick
}

// sight is the latest heartbeat of another process that this process has read.
type sight struct {
	beat time.Time
	// since is the time from which the silence of the process counts: when this process
	// first read the heartbeat in beat. For the first heartbeat that is read of a process,
	// it is the earlier of this time and beat. If no heartbeats could be read for more than
	// two intervals, the silence counts from the next successful read.
	since time.Time
	// beats is the number of times that the heartbeat has changed.
	beats int
	role  string
}

type unreturnedKey struct {
	key   Key
	until time.Time
}

// NewProcess returns a Process with a new random id.
func NewProcess(cfg ProcessConfig) *Process {
	return &Process{
		ProcessConfig: cfg, id: core.NewID(), held: map[Token]bool{}, unreturned: map[Token]unreturnedKey{},
		seen: map[string]sight{}, ticked: make(chan struct{}),
	}
}

// ID returns the id of this process, which its reservations contain.
func (p *Process) ID() string { return p.id }

// Start stores the first heartbeat of this process and reads the heartbeats of the other
// processes. If Alone is set, it does neither, and ends the reservations of earlier
// processes. Call it before the first reservation.
func (p *Process) Start(ctx context.Context) error {
	if p.Alone {
		ended, err := p.Store.EndReservations(ctx, p.id, p.Clock())
		if ended > 0 {
			p.Log.InfoContext(ctx, "idempotency keys of an earlier process freed", "keys", ended)
		}
		return err
	}
	if err := p.Store.Beat(ctx, p.id, Heartbeat{At: p.Clock(), Role: p.Role}); err != nil {
		return err
	}
	return p.look(ctx)
}

// Follow calls Tick whenever the channel tick receives a value, until ctx ends.
func (p *Process) Follow(ctx context.Context, tick <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			p.Tick(ctx)
		}
	}
}

// Tick stores a heartbeat, reads the heartbeats of the other processes and retries failed
// releases of reservations. If a step fails, the next Tick repeats it.
func (p *Process) Tick(ctx context.Context) {
	// The heartbeat has database connections of its own. Otherwise a process whose
	// connections are all busy would appear to have ended.
	ctx, cancel := context.WithTimeout(core.WithLane(ctx, core.Vital), Silence)
	defer cancel()
	defer p.wakeWaiters()
	p.returnAll(ctx)
	if p.Alone {
		return
	}
	err := p.Store.Beat(ctx, p.id, Heartbeat{At: p.Clock(), Role: p.Role})
	if err == nil {
		err = p.look(ctx)
	}
	if err != nil {
		p.Log.DebugContext(ctx, "heartbeat not written", "error", err)
	}
}

// Stop tries again to release the reservations of idempotency keys whose release failed.
// Unless Alone is set, it then deletes the database row of this process, which ends the
// remaining reservations.
func (p *Process) Stop(ctx context.Context) error {
	p.returnAll(ctx)
	if p.Alone {
		return nil
	}
	return p.Store.EndProcess(ctx, p.id)
}

// Hold records that a call of this process uses the reservation with this token. The caller
// calls Hold before it makes the reservation, and Drop or Return at the end of the call.
func (p *Process) Hold(token Token) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[token] = true
}

// Drop removes the record that Hold made: the call no longer uses the reservation with this
// token. The caller calls Drop after it has stored the outcome of the call.
func (p *Process) Drop(token Token) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, token)
}

// Return releases the reservation of a call that stored no outcome. If the release fails,
// the next Tick retries it.
func (p *Process) Return(ctx context.Context, k Key, token Token) error {
	defer p.Drop(token)
	err := p.Replays.Release(ctx, k, token)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.unreturned) < maxUnreturned {
			p.unreturned[token] = unreturnedKey{k, p.Clock().Add(Lease)}
		}
	}
	return err
}

func (p *Process) returnAll(ctx context.Context) {
	p.mu.Lock()
	unreturned := make(map[Token]Key, len(p.unreturned))
	for token, r := range p.unreturned {
		if !p.Clock().Before(r.until) {
			delete(p.unreturned, token) // the lease has ended it
			continue
		}
		unreturned[token] = r.key
	}
	p.mu.Unlock()
	for token, key := range unreturned {
		if err := p.Replays.Release(ctx, key, token); err != nil {
			return
		}
		p.mu.Lock()
		delete(p.unreturned, token)
		p.mu.Unlock()
	}
}

// look reads the heartbeats of the other processes and records when each last changed. Time
// in which the database did not answer does not count as silence of a process, because no
// process could store a heartbeat then. If a later call of look finished first, the older
// result is discarded, because it may lack new processes.
func (p *Process) look(ctx context.Context) error {
	p.mu.Lock()
	p.looks++
	look := p.looks
	p.mu.Unlock()
	beats, err := p.Store.Beats(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if look < p.shown {
		return nil
	}
	p.shown = look
	now := p.Clock()
	missed := !p.looked.IsZero() && now.Sub(p.looked) > 2*Beat
	seen := make(map[string]sight, len(beats))
	for id, latest := range beats {
		beat := latest.At
		s, known := p.seen[id]
		switch {
		case !known && beat.Before(now):
			s = sight{beat: beat, since: beat}
		case !known:
			s = sight{beat: beat, since: now}
		case !s.beat.Equal(beat):
			s = sight{beat: beat, since: now, beats: s.beats + 1}
		case missed:
			s.since = now
		}
		s.role = latest.Role
		seen[id] = s
	}
	p.seen, p.looked = seen, now
	return nil
}

// Alive returns how many processes on the database run, by role, including this process. It
// reads no database: it counts the heartbeats that the last successful Tick has read. So if
// the database does not answer, the result is that of the last answer.
func (p *Process) Alive() map[string]int {
	alive := map[string]int{p.Role: 1}
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, s := range p.seen {
		if id != p.id && p.looked.Sub(s.since) < Silence {
			alive[s.role]++
		}
	}
	return alive
}

func (p *Process) wakeWaiters() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.ticked)
	p.ticked = make(chan struct{})
}
