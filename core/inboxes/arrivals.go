package inboxes

import (
	"context"
	"strconv"
	"time"

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
}

// MessageView is a message as polls return it.
type MessageView struct {
	payload.Payload
	InboxID string `json:"inbox_id" jsonschema:"format=uuid"`
	Cursor  string `json:"cursor" voice:"ours" jsonschema_description:"Position of the message in the inbox."`
	// Extracted is found by rules. It may be wrong or incomplete.
	Extracted Extracted `json:"extracted" jsonschema_description:"What a person would copy from the message: one-time codes and links. It is found by rules and may be incomplete."`
}

// poll returns the messages after a cursor. If there are none, it waits until one arrives, the
// wait is over or the inbox ends. It fails with ended(status) for an inbox that is not active,
// also if it is deleted during the wait.
func (x *Reader) poll(ctx context.Context, i Inbox, q Query, ended func(Status) error) (Arrived, error) {
	until := x.Clock().Add(q.Wait)
	if i.ExpiresAt.Before(until) {
		until = i.ExpiresAt
	}
	var timer *time.Timer
	for {
		now := x.Clock()
		if status := i.StatusAt(now); status == Deleted || status == Expired && timer == nil {
			return Arrived{}, ended(status)
		}
		woken, leave, waits := x.Waiting.join(i.ID)
		arrived, err := x.read(ctx, i, q)
		if err != nil || len(arrived.Messages) > 0 || !waits || !now.Before(until) {
			if waits {
				leave()
			}
			return arrived, err
		}
		if timer == nil {
			timer = time.NewTimer(until.Sub(now))
			defer timer.Stop()
		}
		over := false
		select {
		case <-woken:
		case <-timer.C:
			over = true
		case <-ctx.Done():
			leave()
			return Arrived{}, context.Cause(ctx)
		}
		leave()
		if over {
			// Messages of another process whose notice was lost are found now.
			return x.read(ctx, i, q)
		}
		apart(func() { i, err = x.Store.Inbox(ctx, i.OrgID, i.ID) })
		if err != nil {
			return Arrived{}, err
		}
		q.After = max(q.After, atoi(arrived.Cursor))
	}
}

func atoi(cursor string) int {
	n, err := strconv.Atoi(cursor)
	if err != nil {
		return 0
	}
	return n
}

// read returns the messages after a cursor that match, without waiting.
func (x *Reader) read(ctx context.Context, i Inbox, q Query) (arrived Arrived, err error) {
	apart(func() { arrived, err = x.scan(ctx, i, q) })
	return arrived, err
}

// scan is read on the stack of the caller.
func (x *Reader) scan(ctx context.Context, i Inbox, q Query) (Arrived, error) {
	arrived := Arrived{Messages: []MessageView{}, ExpiresAt: i.ExpiresAt}
	after, scanned := q.After, 0
	for len(arrived.Messages) == 0 && scanned < maxScanned {
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
