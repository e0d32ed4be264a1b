package inboxes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/jobs"
)

const (
	// purgeEvery is how often the messages of ended inboxes are deleted. They are gone within a
	// minute of the end, also if a run takes a while or fails once.
	purgeEvery = 15 * time.Second
	purgeBatch = 100
)

// Objects is the storage of the content of messages.
type Objects interface {
	// Link returns a link that works until a time. storeID is that of the message.
	Link(ctx context.Context, orgID, storeID, key, filename, contentType string, until time.Time) (string, error)
	// Open returns the content of an object. The caller closes it. It fails with
	// core.CodeNotFound if there is none.
	Open(ctx context.Context, orgID, storeID, key string) (io.ReadCloser, error)
	// Delete deletes objects. A missing object is no error.
	Delete(ctx context.Context, orgID, storeID string, keys []string) error
}

// PurgeArgs has the arguments of the purge job, which takes none.
type PurgeArgs struct{}

// Kind returns the name of the purge job.
func (PurgeArgs) Kind() string { return "inboxes_purge" }

// PurgeWorker returns the job that deletes the messages of ended inboxes every 15 seconds, and
// the rows of inboxes 30 days after their end.
func (x *Inboxes) PurgeWorker() jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeEvery, Work: func(ctx context.Context, _ PurgeArgs) error {
		return errors.Join(x.purgeEnded(ctx), x.forget(ctx))
	}}
}

// purgeEnded deletes the messages of all inboxes that have ended. An inbox whose objects
// cannot be deleted now does not delay the others; a later run tries it again.
func (x *Inboxes) purgeEnded(ctx context.Context) error {
	failed := map[Target]error{}
	for {
		ended, err := x.Purges.Ended(ctx, x.Clock(), purgeBatch+len(failed))
		if err != nil {
			return err
		}
		progress := false
		for _, t := range ended {
			if failed[t] != nil {
				continue
			}
			progress = true
			if err := x.purge(ctx, t); err != nil {
				failed[t] = fmt.Errorf("purge of inbox %s: %w", t.InboxID, err)
			}
		}
		if !progress {
			return errors.Join(slices.Collect(maps.Values(failed))...)
		}
	}
}

// purge deletes the messages of an inbox: first their objects, then their rows, so that a run
// that was interrupted leaves no object without a row that names it.
func (x *Inboxes) purge(ctx context.Context, t Target) error {
	for {
		stored, err := x.Messages.Received(ctx, t.OrgID, t.InboxID, 0, pageMessages, pageBytes)
		if err != nil {
			return err
		}
		if len(stored) == 0 {
			done, err := x.Purges.MarkPurged(ctx, t, x.Clock())
			if err != nil || done {
				return err
			}
			continue
		}
		keys := map[string][]string{} // by store
		for _, s := range stored {
			keys[s.Message.StoreID] = append(keys[s.Message.StoreID], s.Message.Keys()...)
		}
		for store, all := range keys {
			if err := x.Objects.Delete(ctx, t.OrgID, store, all); err != nil {
				return err
			}
		}
		if err := x.Messages.RemoveReceived(ctx, t.OrgID, t.InboxID, stored[len(stored)-1].Seq); err != nil {
			return err
		}
	}
}

// forget deletes the rows of inboxes 30 days after their end.
func (x *Inboxes) forget(ctx context.Context) error {
	for {
		n, err := x.Purges.Forget(ctx, x.Clock().Add(-Kept), purgeBatch)
		if err != nil || n < purgeBatch {
			return err
		}
	}
}
