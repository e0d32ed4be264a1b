package engine

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lib/pq"
	"github.com/mailhelm/mailhelm/core"
)

// This file sends reads that may lag ([core.WithReplica]) to a streaming standby of PostgreSQL. See
// core/doc/decisions/0134.

const (
	// longestProbe is the longest interval between two probes of the replica.
	longestProbe = time.Second
	// probeTime limits a probe, and the reads with which a call waits for its own writes.
	probeTime = 2 * time.Second
	// catchUpTime is how long a read waits for the replica to have the writes of this process.
	catchUpTime = 200 * time.Millisecond
)

// ReplicaReason is a reason for which a read that may lag used the primary.
type ReplicaReason string

// The reasons: the replica is too far behind, does not answer, is no standby of the primary (any
// more), did not have the writes of this process in time, or failed during the read.
const (
	ReplicaLags        ReplicaReason = "lag"
	ReplicaUnreachable ReplicaReason = "unreachable"
	ReplicaPromoted    ReplicaReason = "promoted"
	ReplicaOwnWrites   ReplicaReason = "own_writes"
	ReplicaFailed      ReplicaReason = "failed"
)

// ReplicaReasons returns all reasons.
func ReplicaReasons() []ReplicaReason {
	return []ReplicaReason{ReplicaLags, ReplicaUnreachable, ReplicaPromoted, ReplicaOwnWrites, ReplicaFailed}
}

// ReplicaStats are the figures of the replica since the start.
type ReplicaStats struct {
	// Reads is the number of calls that the replica answered, and Fallbacks that of calls that
	// could have used it and used the primary.
	Reads     int
	Fallbacks map[ReplicaReason]int
	// Lag is how old the replica's data may be now.
	Lag time.Duration
}

// replica is a standby that answers reads. A goroutine probes it until close.
type replica struct {
	pool    *pool
	primary *sql.DB
	bound   time.Duration
	stop    context.CancelFunc
	probing sync.WaitGroup

	// writes counts the writes of this process that have ended. visible is a number of them that
	// the replica has.
	writes, visible atomic.Uint64
	// catching has one element while a call waits for the replica to have the writes.
	catching chan struct{}

	mu sync.Mutex
	// freshAt is a time before which all commits of the primary are on the replica.
	freshAt time.Time
	// reason is why the replica cannot be used, "" if it can.
	reason    ReplicaReason
	primaryID identity
	pending   position
	reads     int
	fallbacks map[ReplicaReason]int
}

// position is a place in the write-ahead log of the primary.
type position struct {
	lsn string
	at  time.Time
	// writes is the number of writes of this process that end before the position.
	writes uint64
}

// openReplica returns the replica at c.ReplicaURL, which may be away. primary is a handle of the
// primary. size is the number of connections.
func openReplica(ctx context.Context, c Config, primary *sql.DB, size int) (*replica, error) {
	name, err := postgresName(c.ReplicaURL)
	if err != nil {
		return nil, ReplicaError{err}
	}
	connector, err := pq.NewConnector(name)
	if err != nil {
		return nil, ReplicaError{errors.New("storage: the PostgreSQL driver cannot parse the URL of the replica")}
	}
	// One more connection than calls may use is for probes.
	p := postgresPool(withSettings{connector, "SET " + withoutJIT + "; SET " + withLimit}, size+1)
	p.name, p.unprepared, p.gate = "replica", true, newGate(c.CallerWait, map[core.Lane]int{core.Calls: size})
	bound := cmp.Or(c.ReplicaLag, core.DefaultReplicaLag)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &replica{
		pool: p, primary: primary, bound: bound, stop: stop, catching: make(chan struct{}, 1),
		reason: ReplicaUnreachable, fallbacks: map[ReplicaReason]int{},
	}
	r.probing.Go(func() { r.follow(ctx) })
	return r, nil
}

// close ends the probes. The caller closes the pool.
func (r *replica) close() {
	r.stop()
	r.probing.Wait()
}

// follow probes the replica until ctx ends.
func (r *replica) follow(ctx context.Context) {
	ticker := time.NewTicker(min(longestProbe, max(r.bound/5, 10*time.Millisecond)))
	defer ticker.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, probeTime)
		r.probe(bounded)
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// probe asks whether the replica has reached the pending position, and takes a new position of the
// primary if it has.
func (r *replica) probe(ctx context.Context) {
	pending, err := r.pendingPosition(ctx)
	if err != nil {
		return // the age of the last answer counts
	}
	if r.primaryID == (identity{}) {
		id, err := identify(ctx, r.primary)
		if err != nil {
			return
		}
		r.primaryID = id
	}
	has, reason := r.compare(ctx, pending)
	if reason == ReplicaPromoted {
		// The URL may lead to another server by now, but a promotion closes no connection.
		r.pool.dropIdle()
	}
	if reason == "" && has {
		r.reached(pending)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = reason
	if reason == "" && has && r.pending.lsn == pending.lsn {
		r.pending = position{}
	}
}

// pendingPosition returns the position that the replica is to reach, a new one of the primary if
// there is none. A position that was not reached within the bound is replaced: after a failover it
// may be one of the former primary's log that was never sent, and a server without writes would
// not reach it.
func (r *replica) pendingPosition(ctx context.Context) (position, error) {
	r.mu.Lock()
	pending := r.pending
	r.mu.Unlock()
	if pending.lsn != "" && time.Since(pending.at) <= r.bound { //nolint:forbidigo // the lag is real time
		return pending, nil
	}
	next, err := r.currentPosition(ctx)
	if err != nil {
		return position{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = next
	return next, nil
}

// currentPosition returns a position of the primary that is after all visible commits: the end of
// what is flushed, or of what is written if commits become visible before they are flushed. What is
// written is otherwise no good: a record of an open transaction may stay unsent, and after a switch
// of the file of the log so does the header of its first page, until something else is written.
func (r *replica) currentPosition(ctx context.Context) (position, error) {
	p := position{writes: r.writes.Load(), at: time.Now()} //nolint:forbidigo // the lag is real time
	err := r.primary.QueryRowContext(ctx, `
		SELECT CAST(CASE WHEN current_setting('synchronous_commit') = 'off' AND written - flushed <> header THEN written ELSE flushed END AS text)
		FROM (SELECT written, flushed, CASE WHEN mod(flushed - '0/0', pg_size_bytes(current_setting('wal_segment_size'))) = 0 THEN `+fileHeader+`
				WHEN mod(flushed - '0/0', CAST(current_setting('wal_block_size') AS integer)) = 0 THEN `+pageHeader+` ELSE 0 END AS header
			FROM (SELECT pg_current_wal_insert_lsn() AS written, pg_current_wal_flush_lsn() AS flushed) l) p`).Scan(&p.lsn)
	return p, err
}

// The bytes of the headers in the log: of a page, and of the first page of a file. PostgreSQL names
// them SizeOfXLogShortPHD and SizeOfXLogLongPHD.
const (
	pageHeader = "24"
	fileHeader = "40"
)

// compare reports whether the replica has replayed the log up to the position. The reason is not
// "" if the replica cannot be used.
func (r *replica) compare(ctx context.Context, p position) (has bool, why ReplicaReason) {
	var standby bool
	var id identity
	err := r.pool.sql.QueryRowContext(ctx, `
		SELECT pg_is_in_recovery(), coalesce(pg_last_wal_replay_lsn() >= CAST(CAST($1 AS text) AS pg_lsn), FALSE),
			CAST(system_identifier AS text), current_database() FROM pg_control_system()`, p.lsn).Scan(&standby, &has, &id.system, &id.database)
	switch {
	case err != nil:
		return false, ReplicaUnreachable
	case !standby || id != r.primaryID:
		return false, ReplicaPromoted
	}
	return has, ""
}

// reached records that the replica has the position.
func (r *replica) reached(p position) {
	for {
		old := r.visible.Load()
		if old >= p.writes || r.visible.CompareAndSwap(old, p.writes) {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.at.After(r.freshAt) {
		r.freshAt = p.at
	}
}

// age returns how old the data of the replica may be, and why it cannot be used.
func (r *replica) age() (time.Duration, ReplicaReason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := time.Since(r.freshAt) //nolint:forbidigo // as above
	switch {
	case r.reason != "":
		return age, r.reason
	case age > r.bound:
		return age, ReplicaLags
	}
	return age, ""
}

// choose decides whether a call reads from the replica.
func (r *replica) choose(ctx context.Context) (time.Duration, bool) {
	age, why := r.age()
	if why == "" && !r.awaitOwnWrites(ctx) {
		why = ReplicaOwnWrites
	}
	if why != "" {
		r.fellBack(why)
		return 0, false
	}
	return age, true
}

// awaitOwnWrites waits until the replica has the writes of this process that ended before the
// call. It returns false if that takes too long.
func (r *replica) awaitOwnWrites(ctx context.Context) bool {
	want := r.writes.Load()
	if r.visible.Load() >= want {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	select { // calls that wait at the same time share the positions
	case r.catching <- struct{}{}:
		defer func() { <-r.catching }()
	case <-ctx.Done():
		return false
	}
	if r.visible.Load() >= want {
		return true
	}
	next, err := r.currentPosition(ctx)
	if err != nil {
		return false
	}
	for pause := time.Millisecond; ; pause *= 2 {
		has, why := r.compare(ctx, next)
		if has && why == "" {
			r.reached(next)
			return true
		}
		if why != "" || core.Sleep(ctx, pause) != nil {
			return false
		}
	}
}

// fellBack counts a call that used the primary.
func (r *replica) fellBack(why ReplicaReason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fallbacks[why]++
}

// replicaFailure wraps the error of a read of the replica, after which the call reads from the
// primary.
type replicaFailure struct{ error }

func (f replicaFailure) Unwrap() error { return f.error }

// wrote records the end of a write of this process. Jobs write for no caller that waits.
func (db *DB) wrote(ctx context.Context) {
	if db.replica == nil || core.LaneOf(ctx) == core.Background {
		return
	}
	db.replica.writes.Add(1)
	core.ReplicaReadOf(ctx).UsePrimary()
}

// replicaPool returns the pool of the replica if the read of ctx uses it, else nil.
func (db *DB) replicaPool(ctx context.Context) *pool {
	r := db.replica
	if r == nil || !core.ReplicaReadOf(ctx).Choose(func() (time.Duration, bool) { return r.choose(ctx) }) {
		return nil
	}
	return r.pool
}

// replicaEnded records the end of a read of the pool p. It returns false if the read failed on the
// replica. The call must then repeat the read, which uses the primary.
func (db *DB) replicaEnded(ctx context.Context, p *pool, err error) bool {
	if db.replica == nil || p != db.replica.pool {
		return true
	}
	if err == nil {
		if core.ReplicaReadOf(ctx).Answered() {
			db.replica.mu.Lock()
			defer db.replica.mu.Unlock()
			db.replica.reads++
		}
		return true
	}
	if ctx.Err() != nil {
		return true
	}
	core.ReplicaReadOf(ctx).UsePrimary()
	db.replica.fellBack(ReplicaFailed)
	if outageOf(err) != "" { // no call uses the replica before a probe of it succeeds
		db.replica.mu.Lock()
		defer db.replica.mu.Unlock()
		db.replica.reason = ReplicaUnreachable
	}
	return false
}

// ReplicaStats returns the figures of the replica, and false without [Config.ReplicaURL].
func (db *DB) ReplicaStats() (ReplicaStats, bool) {
	r := db.replica
	if r == nil {
		return ReplicaStats{}, false
	}
	age, _ := r.age()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := ReplicaStats{Reads: r.reads, Fallbacks: map[ReplicaReason]int{}, Lag: age}
	if r.freshAt.IsZero() {
		s.Lag = 0
	}
	for _, why := range ReplicaReasons() {
		s.Fallbacks[why] = r.fallbacks[why]
	}
	return s, true
}

// CheckReplica returns how old the data of the replica may be, and why it cannot be used. It
// waits until the replica can be used, ctx ends, or the replica turns out to be no standby of the
// database. [Config.ReplicaURL] must be set.
func (db *DB) CheckReplica(ctx context.Context) (time.Duration, ReplicaReason) {
	for {
		age, why := db.replica.age()
		if why == "" || why == ReplicaPromoted || core.Sleep(ctx, 10*time.Millisecond) != nil {
			return age, why
		}
	}
}

// ReplicaError is an error of Open that concerns [Config.ReplicaURL].
type ReplicaError struct{ Err error }

func (e ReplicaError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e ReplicaError) Unwrap() error { return e.Err }

// Replica reports that the error concerns the replica. Callers that do not import this package
// recognize the error by this method.
func (ReplicaError) Replica() bool { return true }
