package inboxes

import (
	"context"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/apart"
	"github.com/mailhelm/mailhelm/core/inbound/payload"
)

const (
	// pageMessages and pageBytes limit the messages of an answer. The next poll returns the
	// rest.
	pageMessages, pageBytes = 100, 4 << 20
	// maxScanned is the maximum number of messages that one read compares with a Match.
	maxScanned = 1000
)

// Query is what a poll asks for.
type Query struct {
	// After is the cursor of the previous answer, 0 for the first.
	After int
	// Wait is how long to wait if there is no message. 0 answers at once.
	Wait  time.Duration
	Match Match
}

// Arrived is the answer to a poll.
type Arrived struct {
	Messages  []MessageView `json:"messages" jsonschema_description:"Messages after the cursor, oldest first: at most 100, and 4 MB. Poll again with the new cursor for the rest."`
	Cursor    string        `json:"cursor" voice:"ours" jsonschema_description:"Integer for the argument after of the next poll."`
	ExpiresAt time.Time     `json:"expires_at" jsonschema_description:"End of the inbox."`
	// more is true if messages after the cursor were not compared yet. Then a poll does not wait.
	more bool
}

// MessageView is a message as polls return it.
type MessageView struct {
	payload.Payload
	InboxID string `json:"inbox_id" jsonschema:"format=uuid"`
	Cursor  string `json:"cursor" voice:"ours" jsonschema_description:"Position of the message in the inbox."`
	// Extracted is found by rules. It may be wrong or incomplete.
	Extracted Extracted `json:"extracted" jsonschema_description:"What a person would copy from the message: one-time codes and links. It is found by rules and may be incomplete."`
}

// poll is a poll of an inbox that may wait. It lasts for seconds and may be one of thousands, so
// its state is small, and only run and wait are on the stack of the caller while it waits.
type poll struct {
	x *Reader
	q Query
	// find returns the inbox. A poll calls it once.
	find func(ctx context.Context) (Inbox, error)
	// ended is the error for an inbox that is not active.
	ended func(Status) error

	inbox  Inbox
	until  time.Time   // end of the wait
	timer  *time.Timer // closes expired then; nil before the first wait
	signal *signal     // wakes the poll while it waits
	// expired is not the channel of the timer, because a select of that needs more stack.
	expired chan struct{}
	over    bool // the wait is over

	done    bool
	arrived Arrived
	err     error
}

// run returns the messages after the cursor of the query. If there are none, it waits until one
// arrives, the wait is over or the inbox ends. It fails with the error of find, and with
// ended(status) for an inbox that is not active, also if it is deleted during the wait.
func (p *poll) run(ctx context.Context) (Arrived, error) {
	p.until = p.x.Clock().Add(p.q.Wait)
	for {
		apart.Run(func() { p.look(ctx) })
		if p.done {
			return p.arrived, p.err
		}
		p.wait(ctx)
		if p.done {
			return Arrived{}, p.err
		}
	}
}

// wait waits until the poll must look again, or until ctx ends, which ends the poll.
func (p *poll) wait(ctx context.Context) {
	select {
	case <-p.signal.woken:
	case <-p.expired:
		p.over = true
	case <-ctx.Done():
		p.done, p.err = true, context.Cause(ctx)
		p.timer.Stop()
	}
	p.x.Waiting.leave(p.inbox.ID, p.signal)
}

// look reads the inbox and its messages. If the poll must wait, it has joined the polls that a
// signal wakes, and timer is set. Otherwise it is done.
func (p *poll) look(ctx context.Context) {
	p.done = true
	if !p.over {
		if p.err = p.load(ctx); p.err != nil {
			return
		}
		// A message that arrives after the read must wake the poll, so it joins before.
		p.signal = p.x.Waiting.join(p.inbox.ID)
	} // else messages of another process whose notice was lost are found now
	p.arrived, p.err = p.x.scan(ctx, p.inbox, p.q)
	if p.over || p.signal == nil {
		return
	}
	if left := p.until.Sub(p.x.Clock()); p.err == nil && len(p.arrived.Messages) == 0 && !p.arrived.more && left > 0 {
		p.done = false
		p.q.After = max(p.q.After, atoi(p.arrived.Cursor))
		if p.timer == nil {
			p.expired = make(chan struct{})
			p.timer = time.AfterFunc(left, func() { close(p.expired) })
		}
		return
	}
	p.x.Waiting.leave(p.inbox.ID, p.signal)
}

// load reads the inbox. It fails if the inbox has ended; an inbox that expires during the wait
// ends the wait without an error.
func (p *poll) load(ctx context.Context) (err error) {
	first := p.timer == nil
	if first {
		p.inbox, err = p.find(ctx)
	} else {
		p.inbox, err = p.x.Store.Inbox(ctx, p.inbox.OrgID, p.inbox.ID)
	}
	if err != nil {
		return err
	}
	if first && p.inbox.ExpiresAt.Before(p.until) {
		p.until = p.inbox.ExpiresAt
	}
	if status := p.inbox.StatusAt(p.x.Clock()); status == Deleted || status == Expired && first {
		return p.ended(status)
	}
	return nil
}

func atoi(cursor string) int {
	n, err := strconv.Atoi(cursor)
	if err != nil {
		return 0
	}
	return n
}

// scan returns the messages after a cursor that match, without waiting.
func (x *Reader) scan(ctx context.Context, i Inbox, q Query) (Arrived, error) {
	arrived := Arrived{Messages: []MessageView{}, ExpiresAt: i.ExpiresAt}
	after, scanned := q.After, 0
	for len(arrived.Messages) == 0 {
		if scanned >= maxScanned {
			arrived.more = true
			break
		}
		stored, err := x.Messages.Received(ctx, i.OrgID, i.ID, after, pageMessages, pageBytes)
		if err != nil {
			return Arrived{}, err
		}
		if len(stored) == 0 {
			break
		}
		for _, s := range stored {
			after = s.Seq
			if !q.Match.selects(s.Message) {
				continue
			}
			view, err := x.viewOf(ctx, i, s)
			if err != nil {
				return Arrived{}, err
			}
			arrived.Messages = append(arrived.Messages, view)
		}
		scanned += len(stored)
	}
	arrived.Cursor = strconv.Itoa(after)
	return arrived, nil
}

// viewOf returns a message as polls return it. Its links work until the end of the inbox.
func (x *Reader) viewOf(ctx context.Context, i Inbox, s Stored) (MessageView, error) {
	p, err := payload.Of(s.Message, func(key, filename, contentType string) (string, error) {
		return x.Objects.Link(ctx, i.OrgID, s.Message.StoreID, key, filename, contentType, i.ExpiresAt)
	})
	p.Recipients = append(p.Recipients, s.Recipients...)
	view := MessageView{Payload: p, InboxID: i.ID, Cursor: strconv.Itoa(s.Seq), Extracted: s.Extracted}
	view.Extracted.Codes = append([]string{}, view.Extracted.Codes...)
	view.Extracted.Links = append([]Link{}, view.Extracted.Links...)
	return view, err
}
