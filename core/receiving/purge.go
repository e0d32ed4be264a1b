package receiving

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/objects"
)

const (
	purgeEvery   = 10 * time.Minute
	purgeTimeout = 10 * time.Minute
	purgeBatch   = 500
)

// PurgeArgs has the arguments of the purge job, which takes none.
type PurgeArgs struct{}

// Kind returns the name of the purge job.
func (PurgeArgs) Kind() string { return "receiving_purge" }

// PurgeConfig has the dependencies of the purge job. All fields are required.
type PurgeConfig struct {
	Store   DeliveryStore
	Routing RoutingStore
	Objects objects.Stores
	// Orgs returns the ids of all organizations.
	Orgs  func(context.Context) ([]string, error)
	Clock core.Clock
	Log   *slog.Logger
}

// PurgeWorker returns the job that deletes, every ten minutes, contents whose time is over with
// their objects, messages of the log that are older than Kept, and what is left of domains that
// were deleted before Remembered.
func PurgeWorker(cfg PurgeConfig) jobs.Worker[PurgeArgs] {
	return jobs.Worker[PurgeArgs]{Every: purgeEvery, Timeout: purgeTimeout, Work: func(ctx context.Context, _ PurgeArgs) error {
		return jobs.ForEachOrg(ctx, "", cfg.Orgs, "purge of received mail", cfg.Purge)
	}}
}

// Purge does the work of the job for one organization.
func (cfg PurgeConfig) Purge(ctx context.Context, orgID string) error {
	now := cfg.Clock()
	if err := cfg.purgeContents(ctx, orgID, now); err != nil {
		return err
	}
	for {
		n, err := cfg.Store.DeleteMessages(ctx, orgID, now.Add(-Kept), purgeBatch)
		if err != nil {
			return err
		}
		if n < purgeBatch {
			return cfg.Routing.Forget(ctx, orgID, now.Add(-Remembered))
		}
	}
}

// purgeContents deletes contents with their objects. It deletes the objects first: if that
// fails, the next run finds the contents again.
func (cfg PurgeConfig) purgeContents(ctx context.Context, orgID string, now time.Time) error {
	for {
		expired, err := cfg.Store.ExpiredContents(ctx, orgID, now, purgeBatch)
		if err != nil || len(expired) == 0 {
			return err
		}
		ids := make([]string, len(expired))
		for i, m := range expired {
			if err := cfg.deleteObjects(ctx, orgID, m); err != nil {
				return fmt.Errorf("objects of message %s: %w", m.ID, err)
			}
			ids[i] = m.ID
		}
		if err := cfg.Store.DeleteContents(ctx, orgID, ids); err != nil {
			return err
		}
	}
}

// deleteObjects deletes the objects of a message. A store that the organization no longer has
// keeps them.
func (cfg PurgeConfig) deleteObjects(ctx context.Context, orgID string, m inbound.Message) error {
	keys := m.Keys()
	if len(keys) == 0 {
		return nil
	}
	store, err := cfg.Objects.At(ctx, orgID, m.StoreID)
	if core.IsNotFound(err) {
		cfg.Log.WarnContext(ctx, "objects of received mail stay in a store that the organization no longer has", "org_id", orgID, "message_id", m.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return store.Delete(ctx, keys...)
}
