package processing

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/groupcommit"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/workpool"
	"golang.org/x/sync/semaphore"
)

// LookEvery is the interval at which a process looks for tasks. Usually it is woken before.
const LookEvery = time.Second

const (
	// maxRunning is the number of messages that a process works on at the same time. Most of
	// them wait for DNS, for scanners or for the disk.
	maxRunning = 64
	// claimBatch is how many tasks a busy process claims at least.
	claimBatch = 16
	// maxBytes is the size of all messages that are in memory at the same time.
	maxBytes = 64 << 20
	// maxGroup is the largest number of messages that are delivered in one transaction.
	maxGroup = 64
	// workTime bounds the work on one message, and leaseTime is for how long no other process
	// takes it.
	workTime, leaseTime = time.Minute, 2 * time.Minute
	// queueTime bounds a claim, which the end of the process does not interrupt.
	queueTime = 5 * time.Second
	// firstDelay and longestDelay are the shortest and longest wait after a failure. The waits
	// double.
	firstDelay, longestDelay = time.Second, 10 * time.Minute
	// retryAfter is the wait before the pool begins an item again. Items are never seen again.
	retryAfter = time.Second
)

// Config configures a [Processor]. All fields are required.
type Config struct {
	Queue      inbound.Queue
	Stores     objects.Stores
	Transactor core.Transactor
	// Judge returns the verdicts of a message. It makes a verdict of every failure.
	Judge func(ctx context.Context, e inbound.Envelope, raw []byte) inbound.Verdicts
	// Extract finds codes and links in a message to an inbox. It is called before the transaction,
	// by several goroutines.
	Extract func(inbound.Message) inbound.Extracted
	// Destinations has the destination of each kind of route.
	Destinations map[inbound.Kind]inbound.Destination
	// Observe is called after each attempt to process a message, with its result, its duration,
	// and the time since the message was received.
	Observe func(o Outcome, took, age time.Duration)
	Clock   core.Clock
	Log     *slog.Logger
}

// Outcome is the result of an attempt to process a message.
type Outcome string

// The outcomes.
const (
	// Processed messages were given to their destinations, which kept or dropped them.
	Processed Outcome = "processed"
	// Lost tasks had no message in the store: it was not acknowledged, and its client sends it
	// again.
	Lost Outcome = "lost"
	// Failed attempts are made again later.
	Failed Outcome = "failed"
)

// Outcomes has all outcomes.
func Outcomes() []Outcome { return []Outcome{Processed, Lost, Failed} }

// Processor processes accepted messages. Every process with workers has one; several share the
// queue. Wake lets it look for tasks at once.
type Processor struct {
	*workpool.Pool[*claimed]
	cfg     Config
	memory  *semaphore.Weighted
	deliver *groupcommit.Group[*delivery]
	putOffs *workpool.Results[putOff]
	direct  direct
}

// claimed is a task that this process has claimed.
type claimed struct {
	inbound.Task
	// until is the end of the lease.
	until time.Time
	// added has the keys of objects that only this attempt knows, until it is committed.
	added []string
}

// putOff is a task that is due again at a time.
type putOff struct {
	*claimed
	due time.Time
}

// New returns a Processor that does nothing yet.
func New(cfg Config) *Processor {
	p := &Processor{cfg: cfg, memory: semaphore.NewWeighted(maxBytes), direct: newDirect()}
	p.deliver = groupcommit.New(groupcommit.Config[*delivery]{Commit: p.commit, Max: maxGroup, Timeout: workTime})
	p.putOffs = workpool.NewResults(cfg.Clock, p.storePutOff)
	p.Pool = workpool.New(workpool.Config[*claimed]{
		Limit: maxRunning, Batch: claimBatch, RetryAfter: retryAfter, Before: p.putOffs.Retry, Find: p.find, Do: p.do, Clock: cfg.Clock, Log: cfg.Log,
		FindFailed: "received mail could not be looked for", DoFailed: "received mail could not be put off",
		Attributes: func(c *claimed) []any { return []any{"org_id", c.OrgID, "message_id", c.Envelope.ID} },
	})
	return p
}

// find claims tasks. The end of ctx does not interrupt it: a claim without a holder would delay
// the mail.
func (p *Processor) find(ctx context.Context, room int) ([]*claimed, error) {
	now := p.cfg.Clock()
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), queueTime)
	defer cancel()
	until := now.Add(leaseTime)
	tasks, err := p.cfg.Queue.Claim(lasting, now, until, room)
	if err != nil {
		return nil, err
	}
	all := make([]*claimed, len(tasks))
	for i, t := range tasks {
		all[i] = &claimed{Task: t, until: until}
	}
	if len(all) == room {
		p.Wake() // there may be more
	}
	return all, nil
}

// do processes a task. After a failure the task is due again later, without an end: the message
// was accepted. A task that the end of the process interrupted is due at once, so that another
// process need not wait for the end of the lease. Nor need a task of which an outage of the
// database made the attempt fail: it is put off when the database answers again.
func (p *Processor) do(ctx context.Context, c *claimed) (time.Time, error) {
	began := p.cfg.Clock()
	outcome, err := p.guarded(ctx, c)
	ended := p.cfg.Clock()
	if outcome != "" && ctx.Err() == nil {
		p.cfg.Observe(outcome, ended.Sub(began), ended.Sub(c.Envelope.ReceivedAt))
	}
	if err == nil {
		return time.Time{}, nil
	}
	c.Raw = nil // the task may be kept
	if ctx.Err() != nil {
		return time.Time{}, p.putOffs.Store(ctx, putOff{c, ended}, c.until)
	}
	delay := delayAfter(c.Attempts)
	p.cfg.Log.ErrorContext(ctx, "received mail could not be processed; it is tried again",
		"org_id", c.OrgID, "message_id", c.Envelope.ID, "attempts", c.Attempts, "next_in", delay, "error", err)
	return time.Time{}, p.putOffs.Store(ctx, putOff{c, ended.Add(delay)}, c.until)
}

// storePutOff makes a task due again, and deletes what its attempt has stored.
func (p *Processor) storePutOff(ctx context.Context, o putOff) error {
	undone, err := p.cfg.Queue.PutOff(ctx, o.Task, o.due)
	if undone && err == nil {
		p.remove(ctx, o.claimed)
	}
	return err
}

// remove deletes the objects that only an attempt without a result knows. What it cannot delete is
// left to the sweep of the spool.
func (p *Processor) remove(ctx context.Context, c *claimed) {
	if len(c.added) == 0 {
		return
	}
	store, err := p.cfg.Stores.At(ctx, c.OrgID, c.StoreID)
	if err == nil {
		err = store.Delete(ctx, c.added...)
	}
	if err != nil {
		p.cfg.Log.WarnContext(ctx, "objects of an attempt to process received mail could not be deleted", "org_id", c.OrgID, "message_id", c.Envelope.ID, "error", err)
	}
}

// delayAfter returns the wait after a number of failed attempts.
func delayAfter(attempts int) time.Duration {
	delay := firstDelay
	for i := 1; i < attempts && delay < longestDelay; i++ {
		delay *= 2
	}
	return min(delay, longestDelay)
}
