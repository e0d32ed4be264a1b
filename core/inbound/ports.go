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

// Destination takes the messages of one kind of routes.
type Destination interface {
	// Deliver stores a message for routes of one target. It takes part in the transaction of ctx,
	// and uses no network. A message that was delivered to the target before is left as it is.
	// keep is false if nothing of the message was stored, so that its objects can be deleted.
	Deliver(ctx context.Context, m Message, routes []Route) (keep bool, err error)
	// Committed is called after the transaction of Deliver was committed, for example to wake
	// those who wait for the message.
	Committed(ctx context.Context, m Message, routes []Route)
}

// QueueStore has the messages that were accepted and not processed yet.
type QueueStore interface {
	// Add stores tasks. Tasks that are stored already stay as they are.
	Add(ctx context.Context, tasks []Task) error
	// Claim leases at most limit tasks that are due at now, oldest first, until the time until.
	Claim(ctx context.Context, now, until time.Time, limit int) ([]Task, error)
	// Done removes a task. It reports false and changes nothing if the task was claimed again
	// since.
	Done(ctx context.Context, t Task) (bool, error)
	// PutOff makes a claimed task due again at a time, because its processing failed.
	PutOff(ctx context.Context, t Task, due time.Time) error
}

// Task is a message that waits to be processed.
type Task struct {
	OrgID    string
	Envelope Envelope
	// StoreID and RawKey name the object with the message.
	StoreID, RawKey string
	// Attempts counts the claims. It is the fencing token: only the process of the last claim may
	// end the task.
	Attempts int
}
