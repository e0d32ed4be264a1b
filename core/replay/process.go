package replay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// Beat is the interval at which a process stores a beat, reads the beats of the others,
	// and retries failed releases.
	Beat = time.Second
	// Silence is the time without a beat after which the reservations of a process are taken
	// over. Other processes notice within another second, so the total is below five
	// seconds.
	Silence = 3500 * time.Millisecond
	// maxUnreturned is the maximum number of releases that a process retries. Further ones
	// end with their leases.
	maxUnreturned = 10_000
)

// ProcessStore stores the last beat of each process.
type ProcessStore interface {
	// Beat stores a beat of a process. The time is that of the process's clock.
	Beat(ctx context.Context, process string, at time.Time) error
	// Beats returns the last beats of all processes.
	Beats(ctx context.Context) (map[string]time.Time, error)
	// EndProcess deletes a process and its beat.
	EndProcess(ctx context.Context, process string) error
	// EndReservations releases the keys of all processes except one whose leases have not
	// expired at now. It returns their number.
	EndReservations(ctx context.Context, except string, now time.Time) (int, error)
}

// ProcessConfig configures a Process. All members are required.
type ProcessConfig struct {
	Store   ProcessStore
	Replays Store
	Clock   core.Clock
	Log     *slog.Logger
	// Alone is true when no other process uses the database. Then no beats are stored, and
	// reservations of other processes are remains of earlier ones.
	Alone bool
}

// Process keeps the reservations of this process, and determines which other processes are
// alive. Another process has ended when its row is deleted, or when its beat has not changed
// for Silence by this process's clock. Clocks of two processes are compared only at the
// first read of a process. A wrong result costs the other process one refused call. It never
// causes a second effect: a reservation that was taken over cannot complete. A Process is
// safe for concurrent use.
type Process struct {
	ProcessConfig
	id string

	mu         sync.Mutex
	held       map[Token]bool
	unreturned map[Token]unreturned
	seen       map[string]sight
	looks      int           // how many looks at the others began
	shown      int           // the look that seen is from
	looked     time.Time     // when the others were last seen
	ticked     chan struct{} // closed by the next Tick
}

// sight is the last known beat of another process.
type sight struct {
	beat time.Time
	// since is when this beat was first read, by this process's clock.
	since time.Time
	// beats counts the changes of beat.
	beats int
}

type unreturned struct {
	key   Key
	until time.Time
}

// NewProcess returns a process with a new id.
func NewProcess(cfg ProcessConfig) *Process {
	return &Process{
		ProcessConfig: cfg, id: core.NewID(), held: map[Token]bool{}, unreturned: map[Token]unreturned{},
		seen: map[string]sight{}, ticked: make(chan struct{}),
	}
}

// ID returns the id that the reservations of this process contain.
func (p *Process) ID() string { return p.id }

// Start stores the first beat of the process. A process that is alone ends the reservations
// of earlier processes instead. It must run before the first reservation.
func (p *Process) Start(ctx context.Context) error {
	if p.Alone {
		ended, err := p.Store.EndReservations(ctx, p.id, p.Clock())
		if ended > 0 {
			p.Log.InfoContext(ctx, "idempotency keys of an earlier process freed", "keys", ended)
		}
		return err
	}
	if err := p.Store.Beat(ctx, p.id, p.Clock()); err != nil {
		return err
	}
	return p.look(ctx)
}

// Follow calls Tick at every tick until ctx ends.
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

// Tick stores a beat, reads the beats of the others and retries failed releases. The next
// tick repeats what failed.
func (p *Process) Tick(ctx context.Context) {
	// The beat uses its own database connections, because a busy process must not appear
	// dead.
	ctx, cancel := context.WithTimeout(core.WithLane(ctx, core.Vital), Silence)
	defer cancel()
	defer p.wake()
	p.returnAll(ctx)
	if p.Alone {
		return
	}
	err := p.Store.Beat(ctx, p.id, p.Clock())
	if err == nil {
		err = p.look(ctx)
	}
	if err != nil {
		p.Log.DebugContext(ctx, "no sign of life could be shown", "error", err)
	}
}

// Stop retries failed releases once and deletes the process, so that others can take over
// its reservations at once.
func (p *Process) Stop(ctx context.Context) error {
	p.returnAll(ctx)
	if p.Alone {
		return nil
	}
	return p.Store.EndProcess(ctx, p.id)
}

// Hold registers a reservation on which a call of this process works. The rail calls it
// before it makes the reservation. It calls Drop or Return at the end of the call.
func (p *Process) Hold(token Token) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[token] = true
}

// Drop unregisters the reservation of a call with a stored outcome.
func (p *Process) Drop(token Token) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, token)
}

// Return releases the reservation of a call that stored nothing. When the release fails
// because the database does not answer, Tick retries it.
func (p *Process) Return(ctx context.Context, k Key, token Token) error {
	defer p.Drop(token)
	err := p.Replays.Release(ctx, k, token)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.unreturned) < maxUnreturned {
			p.unreturned[token] = unreturned{k, p.Clock().Add(Lease)}
		}
	}
	return err
}

func (p *Process) returnAll(ctx context.Context) {
	p.mu.Lock()
	left := make(map[Token]Key, len(p.unreturned))
	for token, r := range p.unreturned {
		if !p.Clock().Before(r.until) {
			delete(p.unreturned, token) // the lease has ended it
			continue
		}
		left[token] = r.key
	}
	p.mu.Unlock()
	for token, key := range left {
		if err := p.Replays.Release(ctx, key, token); err != nil {
			return
		}
		p.mu.Lock()
		delete(p.unreturned, token)
		p.mu.Unlock()
	}
}

// look reads the heartbeats of the other processes and records when each of them last
// changed, which decides whether a process has ended. Time in which the database did not answer does not count, because
// no process could store a heartbeat then. A look whose read ends after that of a later
// look is discarded, because it may lack processes that have started since.
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
	for id, beat := range beats {
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
		seen[id] = s
	}
	p.seen, p.looked = seen, now
	return nil
}

func (p *Process) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.ticked)
	p.ticked = make(chan struct{})
}
