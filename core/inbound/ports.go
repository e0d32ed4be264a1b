package inbound

import (
	"context"
	"io"
	"time"
)

// Router finds the route of an address. It is asked for each RCPT command, so it must be fast:
// routes of receiving domains come from a published snapshot in memory.
type Router interface {
	// Route returns where mail to an address goes, or why none is accepted. An error means that
	// the sender should try again later.
	Route(ctx context.Context, address string) (Route, Refusal, error)
}

// Intake takes messages from receivers.
type Intake interface {
	// Accept returns nil when the message and the task to process it are durable. With any other
	// result nothing is stored, and the sender must try again later. It reads body to its end.
	Accept(ctx context.Context, e Envelope, body io.Reader) error
}

// Delivery is a message for one target.
type Delivery struct {
	Message Message
	// Routes has the routes of the message to the target, at least one.
	Routes []Route
}

// Destination takes the messages of one kind of routes.
type Destination interface {
	// Deliver stores messages of any organizations for their targets, in the given order. It takes
	// part in the transaction of ctx, and uses no network. It locks rows in the same order in all
	// processes. A provider may pass a message twice; the target then keeps the first one, which
	// has other objects. kept has an element for each delivery: false if the target does not keep
	// the message, so that its objects are deleted.
	Deliver(ctx context.Context, all []Delivery) (kept []bool, err error)
	// Committed is called for each delivery after the transaction of Deliver was committed, for
	// example to wake those who wait for the message.
	Committed(ctx context.Context, d Delivery)
}

// Queue has the messages that were accepted and not processed yet.
type Queue interface {
	// Add stores tasks. Tasks that are stored already stay as they are. A task with LeasedUntil
	// counts as claimed once, until that time; others are due at once.
	Add(ctx context.Context, tasks []Task) error
	// Claim leases at most limit tasks of all organizations that are due at now, until the time
	// until. The task that was due first comes first.
	Claim(ctx context.Context, now, until time.Time, limit int) ([]Task, error)
	// Settle ends the processing of tasks of any organizations. It removes a task without Discard.
	// A task with Discard stays until these objects are deleted and it is settled without them.
	// Settle returns the tasks that it did not change because they were claimed again since.
	Settle(ctx context.Context, tasks []Task) (again []Task, err error)
	// PutOff makes a claimed task due at a time, because its processing failed. It changes
	// nothing if the task was claimed again since. It returns true if the task was put off and no
	// call of Settle for it was committed: then nothing of the attempt is stored.
	PutOff(ctx context.Context, t Task, due time.Time) (undone bool, err error)
}

// Task is a message that waits to be processed.
type Task struct {
	OrgID    string
	Envelope Envelope
	// StoreID and RawKey name the object with the message.
	StoreID, RawKey string
	// Discard has the keys of objects that must be deleted. If it is not empty, the message was
	// processed.
	Discard []string
	// Attempts counts the claims. It is the fencing token: only the process of the last claim may
	// end the task.
	Attempts int
	// LeasedUntil is the end of the lease of a new task that the process works on which accepted
	// its message. It is zero for other tasks, and for all that Claim returns.
	LeasedUntil time.Time
	// Raw is the message of such a task. Without it the message is read from the store.
	Raw []byte
}

// Worker works on messages in the process that accepted them, without a claim and without reading
// the message again.
type Worker interface {
	// Reserve takes a place for a message. It waits a moment if all places are taken. It returns
	// nil if there is no place; then another process, or this one, claims the task later.
	Reserve(ctx context.Context) Place
}

// Place is a place for one message. Either Begin or Release must be called, once.
type Place interface {
	// LeasedUntil is the time until which the worker works on the message.
	LeasedUntil() time.Time
	// Begin works on a task, which is stored, in another goroutine. The task has its message in
	// Raw, which the caller must not change afterwards.
	Begin(t Task)
	// Release gives up the place.
	Release()
}
