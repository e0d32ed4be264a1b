// Package jobs is how a domain enqueues work. A job's arguments and its worker live in the
// domain, beside the task that enqueues them; storage runs them. A job is enqueued in the
// transaction of the write that needs it, so neither happens without the other.
package jobs

import (
	"context"
	"time"
)

// Args are the arguments of a job: a small struct that is stored as JSON. Kind is the job's
// name in the database and in metrics and never changes.
type Args interface{ Kind() string }

// Queue takes jobs. Both methods take part in the transaction of their context, if
// there is one.
type Queue interface {
	Enqueue(ctx context.Context, args Args) error
	// EnqueueOnce is Enqueue unless a job with the same arguments that EnqueueOnce left
	// still waits or runs. It reports whether it left one. A failed job that waits for its
	// retry does not count. It is for work that callers ask for repeatedly. Use Enqueue for
	// a change that a running job may have missed.
	EnqueueOnce(ctx context.Context, args Args) (bool, error)
}

// Worker does one kind of job.
type Worker[T Args] struct {
	// Work does the job. It may run more than once for the same arguments and must have the
	// same result. After an error it runs again later.
	Work func(ctx context.Context, args T) error
	// Timeout bounds one run; zero means one minute.
	Timeout time.Duration
	// Every makes the job periodic, with zero arguments, also right at start;
	// zero means it runs only when enqueued.
	Every time.Duration
}
