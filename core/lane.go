package core

import "context"

// Lane says on whose behalf work asks the database, which gives each lane
// connections of its own: what one lane has too much of keeps no other waiting.
type Lane int

// The lanes. Work that says nothing is a call.
const (
	// Calls are calls of callers, and the pages for people.
	Calls Lane = iota
	// ExpensiveReads are reads that may look at much of what an organization has.
	ExpensiveReads
	// Vital is what must answer while everything else waits: tokens and readiness.
	Vital
	// Background is the work of jobs, which waits longer than a caller would.
	Background
)

// Lanes is how many there are.
const Lanes = int(Background) + 1

type laneKey struct{}

// OnLane returns ctx for work on a lane.
func OnLane(ctx context.Context, l Lane) context.Context {
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
