// Package jobs has the interfaces with which a domain package enqueues and runs background
// jobs. The arguments and the worker of a job are in the domain package; the storage
// package runs the jobs. A job is enqueued in the transaction of the write that needs it,
// so that both or neither take effect.
package jobs

import (
	"context"
	"time"
)

// Args are the arguments of a job: a small struct that is stored as JSON. Kind returns the
// job's name in the database and in metrics; it must never change.
type Args interface{ Kind() string }

// Queue stores jobs to run later. Both methods take part in the transaction of ctx, if it
// has one.
type Queue interface {
	Enqueue(ctx context.Context, args Args) error
	// EnqueueOnce enqueues a job unless an earlier job of EnqueueOnce with the same
	// arguments is still waiting or running. It reports whether it enqueued the job. A
	// failed job that waits for its retry does not count. Use it for work that callers
	// request repeatedly. Use Enqueue after a change that a running job may have missed.
	EnqueueOnce(ctx context.Context, args Args) (bool, error)
}

// Worker defines how the jobs of one kind run.
type Worker[T Args] struct {
	// Work runs the job. It may run more than once for the same arguments, so it must be
	// idempotent. After an error, the job runs again later.
	Work func(ctx context.Context, args T) error
	// Timeout is the maximum duration of one run; zero means one minute.
	Timeout time.Duration
	// Every is the period of a periodic job. A periodic job runs with the zero value of its
	// arguments, and also at the start of the process. Zero means that the job runs only if
	// it is enqueued.
	Every time.Duration
}
