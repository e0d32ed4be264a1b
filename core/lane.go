package core

import "context"

// Lane is a class of work on the database. Each lane has its own connections, so that work
// on one lane does not delay the others.
type Lane int

// The lanes. Work whose context names no lane is on the lane Calls.
const (
	// Calls is the lane of API calls and of pages. It is the default.
	Calls Lane = iota
	// ExpensiveReads is the lane of reads that may read much of an organization's data.
	ExpensiveReads
	// Vital is the lane of tokens, revocations and readiness checks. These must work even
	// when all connections of the other lanes are busy.
	Vital
	// Background is the lane of jobs. They may wait for a connection longer than a caller.
	Background
)

// Lanes is the number of lanes.
const Lanes = int(Background) + 1

type laneKey struct{}

// WithLane returns a context whose database work runs on the lane.
func WithLane(ctx context.Context, l Lane) context.Context {
	if LaneOf(ctx) == l {
		return ctx
	}
	return context.WithValue(ctx, laneKey{}, l)
}

// LaneOf returns the lane that WithLane set in ctx, or Calls.
func LaneOf(ctx context.Context) Lane {
	l, _ := ctx.Value(laneKey{}).(Lane)
	return l
}
