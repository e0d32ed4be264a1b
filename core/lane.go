package core

import "context"

// Lane says on whose behalf work uses the database. Each lane has connections of its own, so
// that work on one lane does not delay the others.
type Lane int

// The lanes. Work that says nothing is a call.
const (
	// Calls are calls of callers, and the pages for people. It is the default.
	Calls Lane = iota
	// ExpensiveReads are reads that may look at much of an organization's data.
	ExpensiveReads
	// Vital are tokens, revocations and readiness, which must work while all other lanes
	// wait.
	Vital
	// Background is the work of jobs, which may wait longer than a caller.
	Background
)

// Lanes is the number of lanes.
const Lanes = int(Background) + 1

type laneKey struct{}

// WithLane returns ctx for work on a lane.
func WithLane(ctx context.Context, l Lane) context.Context {
	if LaneOf(ctx) == l {
		return ctx
	}
	return context.WithValue(ctx, laneKey{}, l)
}

// LaneOf returns the lane of the work that ctx is for.
func LaneOf(ctx context.Context) Lane {
	l, _ := ctx.Value(laneKey{}).(Lane)
	return l
}
