package core

import (
	"context"
	"sync"
	"time"
)

// DefaultReplicaLag is how old the data of a replica may be, unless the operator sets another bound.
const DefaultReplicaLag = 5 * time.Second

// ReplicaRead is a call that may read from a replica of the database, whose data may be older. The
// engine decides at the first read of the call, and all later reads of the call use the same
// database. After a write of the call they use the primary. It is safe for concurrent use.
type ReplicaRead struct {
	mu       sync.Mutex
	decided  bool
	replica  bool // the next read uses the replica
	answered bool // a read of the replica succeeded
	lag      time.Duration
}

type (
	replicaKey struct{}
	primaryKey struct{}
)

// WithPrimary returns a context whose reads use the primary, also with WithReplica. Use it for a
// call that must see what its caller has written, perhaps through another server.
func WithPrimary(ctx context.Context) context.Context {
	return context.WithValue(ctx, primaryKey{}, true)
}

// WithReplica returns a context whose reads may use a replica of the database, unless ctx is that
// of WithPrimary. Use it only for a call that reads, and whose result no write depends on.
func WithReplica(ctx context.Context) (context.Context, *ReplicaRead) {
	r := &ReplicaRead{decided: ctx.Value(primaryKey{}) != nil}
	return context.WithValue(ctx, replicaKey{}, r), r
}

// ReplicaReadOf returns the value of WithReplica, or nil if reads with ctx must use the primary.
func ReplicaReadOf(ctx context.Context) *ReplicaRead {
	r, _ := ctx.Value(replicaKey{}).(*ReplicaRead)
	return r
}

// Choose reports whether the next read uses the replica. Its first call takes the result of
// choose: how old the data of the replica may be, and whether to use it. For a nil ReplicaRead it
// returns false.
func (r *ReplicaRead) Choose(choose func() (lag time.Duration, use bool)) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.decided {
		r.decided = true
		r.lag, r.replica = choose()
	}
	return r.replica
}

// UsePrimary makes all further reads of the call use the primary.
func (r *ReplicaRead) UsePrimary() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decided, r.replica = true, false
}

// Answered records that the replica has answered a read of the call. It returns true for the
// first one.
func (r *ReplicaRead) Answered() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.answered
	r.answered = true
	return first
}

// Lag returns how old the data may be that the call read. It returns false if the call read from
// the primary only.
func (r *ReplicaRead) Lag() (time.Duration, bool) {
	if r == nil {
		return 0, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lag, r.answered
}
