// Package spool puts accepted messages where a crash cannot lose them: the message into the
// object store of its organization, and the task to process it into the queue.
package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core/groupcommit"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/objects"
)

const (
	// maxGroup is the largest number of tasks that are added in one transaction.
	maxGroup = 128
	// addTime bounds the time in which tasks are added. It is shorter than the ten minutes that
	// a client waits for the reply to a message (RFC 5321 section 4.5.3.2.6).
	addTime = 30 * time.Second
	// cleanTime bounds the deletion of a message that was not accepted.
	cleanTime = 10 * time.Second
)

// Config configures a [Spooler]. All fields are required, unless their comments define what
// the zero value means.
type Config struct {
	Stores objects.Stores
	Queue  inbound.Queue
	// Folder has temporary files of large messages; "" means that of the system.
	Folder string
	// Worker works on messages that this process accepts. nil leaves all of them to the queue.
	Worker inbound.Worker
	// Wake is called after a message was left to the queue, so that it is claimed at once.
	Wake func()
	// Count counts the result of each call of Accept.
	Count func(Outcome)
	Log   *slog.Logger
}

// Outcome is the result of a call of Accept.
type Outcome string

// The outcomes.
const (
	Accepted Outcome = "accepted"
	// Interrupted means that the message was not read to its end: the receiver refused it, or the
	// client left.
	Interrupted Outcome = "interrupted"
	// DiskFailed means that the temporary file of a large message could not be written.
	DiskFailed Outcome = "disk_failed"
	// StoreFailed means that the object store of the organization did not take the message.
	StoreFailed Outcome = "store_failed"
	// QueueFailed means that the database did not take the task.
	QueueFailed Outcome = "queue_failed"
)

// Outcomes has all outcomes.
func Outcomes() []Outcome {
	return []Outcome{Accepted, Interrupted, DiskFailed, StoreFailed, QueueFailed}
}

// Spooler accepts messages. It is safe for concurrent use.
type Spooler struct {
	cfg   Config
	adder *groupcommit.Group[inbound.Task]
}

var _ inbound.Intake = (*Spooler)(nil)

// New returns a Spooler.
func New(cfg Config) *Spooler {
	return &Spooler{cfg: cfg, adder: groupcommit.New(groupcommit.Config[inbound.Task]{Commit: cfg.Queue.Add, Max: maxGroup, Timeout: addTime})}
}

// Accept stores a message and the task to process it. The envelope must have a route. Accept
// sets its Size. It fails with an error that wraps objects.ErrUnavailable if the store does not
// work at present.
func (s *Spooler) Accept(ctx context.Context, e inbound.Envelope, body io.Reader) error {
	if len(e.Routes) == 0 {
		return errors.New("inbound: the message has no route")
	}
	held, err := hold(body, s.cfg.Folder)
	if err != nil {
		s.cfg.Count(interruption(err))
		return err
	}
	defer held.release()
	e.Size = held.size
	outcome, err := s.keep(ctx, e, held)
	s.cfg.Count(outcome)
	return err
}

// interruption returns the outcome of a message that could not be held until its end.
func interruption(err error) Outcome {
	if _, ofFile := errors.AsType[*fs.PathError](err); ofFile {
		return DiskFailed
	}
	return Interrupted
}

// keep stores a message and its task, and leaves it to the worker of this process or to the queue.
func (s *Spooler) keep(ctx context.Context, e inbound.Envelope, held *held) (Outcome, error) {
	org := e.Routes[0].OrgID
	store, err := s.cfg.Stores.Of(ctx, org)
	if err != nil {
		return StoreFailed, fmt.Errorf("inbound: store of the organization: %w", err)
	}
	// The folder is new for each call. A provider may pass a message again that was accepted before;
	// then a failure of the second call must not delete the message of the first.
	task := inbound.Task{OrgID: org, Envelope: e, StoreID: store.ID(), RawKey: objects.RawKey(org, newFolder(e.ID))}
	raw := s.copyOf(held, e)
	at, err := held.storeIn(ctx, store, task.RawKey)
	if err != nil {
		// After a timeout of a bucket the object may be there.
		s.discard(ctx, store, task)
		return StoreFailed, fmt.Errorf("inbound: store message: %w", err)
	}
	task.RawKey = at
	var place inbound.Place
	if raw != nil {
		place = s.cfg.Worker.Reserve(ctx)
	}
	if place != nil {
		task.LeasedUntil = place.LeasedUntil()
	}
	if err := s.adder.Do(ctx, task); err != nil {
		if place != nil {
			place.Release()
		}
		// The task may be in the queue although the commit failed. Then it finds no message and
		// ends, and the client sends the message again.
		s.discard(ctx, store, task)
		return QueueFailed, fmt.Errorf("inbound: queue message: %w", err)
	}
	if place == nil {
		s.cfg.Wake()
		return Accepted, nil
	}
	task.Raw, task.Attempts = raw, 1
	place.Begin(task)
	return Accepted, nil
}

// copyOf returns a copy of a message for the worker, nil without one and for a large message.
// A provider may pass a message again that was accepted before, so that its task is not new;
// its messages are left to the queue.
func (s *Spooler) copyOf(m *held, e inbound.Envelope) []byte {
	if s.cfg.Worker == nil || m.file != nil || e.Judged != nil {
		return nil
	}
	return bytes.Clone(m.buffer.Bytes())
}

// discard deletes a message that was not accepted.
func (s *Spooler) discard(ctx context.Context, store objects.Store, t inbound.Task) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	if err := store.Delete(ctx, t.RawKey); err != nil {
		s.cfg.Log.WarnContext(ctx, "a message that was not accepted could not be deleted", "org_id", t.OrgID, "message_id", t.Envelope.ID, "error", err)
	}
}
