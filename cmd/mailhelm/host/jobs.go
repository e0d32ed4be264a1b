package host

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage"
)

// startJobs runs the background jobs of every domain.
func startJobs(ctx context.Context, cfg config.Config, public config.Public, s *stores, domains catalogue.Domains) (*storage.Jobs, error) {
	queue, err := s.db.NewJobs(storage.JobsConfig{})
	if err != nil {
		return nil, err
	}
	storage.AddWorker(queue, domains.Sync.Worker())
	storage.AddWorker(queue, domains.Attributes.PassWorker())
	storage.AddWorker(queue, domains.Segments.FollowWorker())
	storage.AddWorker(queue, domains.Segments.SweepWorker())
	storage.AddWorker(queue, domains.Audience.BulkWorker())
	storage.AddWorker(queue, domains.Audience.PushWorker())
	storage.AddWorker(queue, domains.Suppression.RejudgeWorker())
	storage.AddWorker(queue, domains.Account.FollowWorker())
	storage.AddWorker(queue, domains.Channels.SyncWorker())
	storage.AddWorker(queue, domains.Channels.VerifyWorker())
	storage.AddWorker(queue, domains.Templates.SyncWorker())
	storage.AddWorker(queue, messages.PurgeWorker(messages.PurgeConfig{
		From: []messages.Purger{s.db.MessagesPurger(), s.db.ReportsPurger()},
		Orgs: s.db.Orgs().OrgIDs, Org: s.db.Orgs().Org, Clock: cfg.Clock, Log: cfg.Log,
	}))
	storage.AddWorker(queue, activities.PurgeWorker(activities.PurgeConfig{
		From: s.db.ActivitiesPurger(), Orgs: s.db.Orgs().OrgIDs, Org: s.db.Orgs().Org, Clock: cfg.Clock, Log: cfg.Log,
	}))
	storage.AddWorker(queue, replay.PurgeWorker(s.db.Replay(), cfg.Clock, cfg.Log))
	storage.AddWorker(queue, access.PurgeWorker(s.db.Access(), cfg.Clock, cfg.Log))
	storage.AddWorker(queue, access.PurgeSigningKeysWorker(s.db.SigningKeys(), cfg.Clock, cfg.Log))
	addPeopleWorkers(queue, cfg, public, s)
	// It needs no Principals: a remembered key ends with its grace.
	keys := access.Lifecycle{Stores: s.db.Access(), Orgs: s.db.Orgs(), Transactor: s.db, Clock: cfg.Clock}
	storage.AddWorker(queue, keys.GraceWorker(cfg.Log))
	return queue, queue.Start(ctx)
}
