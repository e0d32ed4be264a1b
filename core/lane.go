package core

import "context"

// Lane is a class of work on the database. Each lane has its own connections, so that work
// on one lane does not delay the others.
type Lane int

// The lanes of work on the database. Work is on the lane Calls if its context names no
// other lane.
const (
	// Calls is the lane of API calls and of requests for web pages. It is the default.
	Calls Lane = iota
	// ExpensiveReads is the lane (class of work with its own database connections) of reads
	// that may read much of an organization's data.
	ExpensiveReads
	// Vital is the lane (class of work with its own database connections) of tokens,
	// revocations, readiness checks and heartbeats. These must work even when all
	// connections of the other lanes are busy.
	Vital
	// Background is the lane of jobs. A job may wait longer for a connection than an API
	// call may.
	Background
)

// Lanes is the number of lanes.
const Lanes = int(Background) + 1

type laneKey struct{}

// WithLane returns a context with the lane l. Database calls with this context use the
// share of connections that is reserved for the lane.
func WithLane(ctx context.Context, l Lane) context.Context {
	if LaneOf(ctx) == l {
		return ctx
	}
	return context.WithValue(ctx, laneKey{}, l)
}

// LaneOf returns the lane that WithLane set in ctx. If ctx has no lane, it returns the lane
// Calls.
func LaneOf(ctx context.Context) Lane {
	l, _ := ctx.Value(laneKey{}).(Lane)
	return l
}
