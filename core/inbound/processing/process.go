package processing

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/objects"
)

// errClaimedAgain means that another process has claimed the task, because this one was slow.
var errClaimedAgain = errors.New("inbound: the task was claimed again")

// guarded processes a task within the time for one. A panic becomes an error, so that the task
// is put off like after any other failure. The outcome is "" if the message was processed before,
// here or by another process.
func (p *Processor) guarded(ctx context.Context, c *claimed) (o Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			o, err = Failed, errors.New(core.PanicText(v))
		}
	}()
	o, err = p.process(ctx, c)
	switch {
	case errors.Is(err, errClaimedAgain):
		p.remove(ctx, c)
		return "", nil // the other process ends the task
	case err != nil:
		return Failed, err
	}
	return o, nil
}

func (p *Processor) process(ctx context.Context, c *claimed) (Outcome, error) {
	t := c.Task
	store, err := p.cfg.Stores.At(ctx, t.OrgID, t.StoreID)
	if err != nil {
		return Failed, fmt.Errorf("inbound: store of a message: %w", err)
	}
	if len(t.Discard) > 0 {
		return "", p.discard(ctx, store, t)
	}
	ready, err := p.prepare(ctx, store, c)
	if core.IsNotFound(err) {
		return Lost, p.lost(ctx, t)
	}
	if err != nil {
		return Failed, err
	}
	if err := p.deliver.Do(ctx, ready); err != nil {
		return Failed, err
	}
	c.added = nil
	for _, d := range ready.copies {
		p.cfg.Destinations[kindOf(d)].Committed(ctx, d)
	}
	if len(ready.task.Discard) == 0 {
		return Processed, nil
	}
	return Processed, p.discard(ctx, store, ready.task)
}

// lost ends a task without a message. The spool deletes a message if it cannot tell whether its
// task was queued; the client sends it again.
func (p *Processor) lost(ctx context.Context, t inbound.Task) error {
	p.cfg.Log.WarnContext(ctx, "received mail has no message in the store", "org_id", t.OrgID, "message_id", t.Envelope.ID)
	_, err := p.cfg.Queue.Settle(ctx, []inbound.Task{t})
	return err
}

// discard deletes the objects of a message that no destination keeps, and ends its task.
func (p *Processor) discard(ctx context.Context, store objects.Store, t inbound.Task) error {
	if err := store.Delete(ctx, t.Discard...); err != nil {
		return fmt.Errorf("inbound: delete message: %w", err)
	}
	t.Discard = nil
	_, err := p.cfg.Queue.Settle(ctx, []inbound.Task{t})
	return err
}

// read returns a message as it was received.
func read(ctx context.Context, store objects.Store, t inbound.Task) ([]byte, error) {
	if t.Raw != nil {
		return t.Raw, nil
	}
	body, err := store.Open(ctx, t.RawKey)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	raw := make([]byte, t.Envelope.Size)
	if _, err := io.ReadFull(body, raw); err != nil {
		return nil, fmt.Errorf("inbound: read message: %w", err)
	}
	return raw, nil
}
