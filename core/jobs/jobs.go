// Package jobs is how a domain leaves work for later. A job's arguments and its
// worker live in the domain, beside the task that leaves them; storage runs
// them. A job is enqueued in the transaction of the write that needs it, so
// neither happens without the other.
package jobs

import (
	"context"
	"time"
)

// Args are what a job is about: a small struct that is stored as JSON. Kind is
// the job's name in the database and in metrics and never changes.
type Args interface{ Kind() string }

// Queue takes jobs. Both methods take part in the transaction of their context, if
// there is one.
type Queue interface {
	Enqueue(ctx context.Context, args Args) error
	// EnqueueOnce is Enqueue unless a job that it left with the same arguments still
	// waits or runs, and reports whether it left one. One that failed and waits to be
	// tried again does not count. It is for work that somebody asks for over and over;
	// where a change must be followed that a running job may have missed, Enqueue is.
	EnqueueOnce(ctx context.Context, args Args) (bool, error)
}

// Worker does one kind of job.
type Worker[T Args] struct {
	// Work does the job. It may run more than once for the same arguments and
	// must come to the same end. An error makes it run again later.
	Work func(ctx context.Context, args T) error
	// Timeout bounds one run; zero means one minute.
	Timeout time.Duration
	// Every makes the job periodic, with zero arguments, also right at start;
	// zero means it runs only when enqueued.
	Every time.Duration
}
