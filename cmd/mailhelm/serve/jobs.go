package serve

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/retaining"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/images"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/contactimport"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/senders"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/rest/dashboard/domainauth"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// startJobs starts the background jobs of all core packages and returns their queue, which
// the caller must stop. If it fails, no job runs. Several processes on one PostgreSQL
// database may each run jobs. observe is called after each run of a job.
func startJobs(
	ctx context.Context, cfg config.Config, public config.Public, s *stores, domains catalogue.Domains,
	observe func(kind string, outcome engine.JobOutcome, took time.Duration),
) (*engine.Jobs, error) {
	queue, err := s.db.NewJobs(engine.JobsConfig{Observe: observe})
	if err != nil {
		return nil, err
	}
	engine.AddWorker(queue, domains.Attributes.PassWorker())
	engine.AddWorker(queue, domains.Segments.FollowWorker())
	engine.AddWorker(queue, domains.Workflows.RevalidateWorker())
	engine.AddWorker(queue, domains.Bulk.BulkWorker())
	engine.AddWorker(queue, newUploads(cfg, s, domains.Bulk).Worker())
	engine.AddWorker(queue, domains.Pushes.PushWorker())
	engine.AddWorker(queue, domains.Suppression.RejudgeWorker())
	engine.AddWorker(queue, domains.Account.FollowWorker())
	engine.AddWorker(queue, domains.Channels.VerifyWorker())
	addAccountJobs(queue, cfg, s, domains)
	engine.AddWorker(queue, s.repository.Worker(domains.Bundles, s.db.Orgs().Org))
	engine.AddWorker(queue, handover.GiveUpWorker(s.db.Handover(), s.db.Orgs().OrgIDs, cfg.Clock))
	engine.AddWorker(queue, s.dispatcher.RecountWorker(s.db.Orgs().OrgIDs))
	engine.AddWorker(queue, domains.Approvals.Gate.ExpireWorker(s.db, s.db.Orgs().OrgIDs))
	engine.AddWorker(queue, domains.Inboxes.PurgeWorker())
	engine.AddWorker(queue, messages.PurgeWorker(messages.PurgeConfig{
		From: []messages.Purger{s.db.Messages(), s.db.Reports()},
		Orgs: s.db.Orgs().OrgIDs, Org: s.db.Orgs().Org, Clock: cfg.Clock, Log: cfg.Log,
	}))
	engine.AddWorker(queue, activities.PurgeWorker(activities.PurgeConfig{
		From: s.db.Activities(), Orgs: s.db.Orgs().OrgIDs, Org: s.db.Orgs().Org, Clock: cfg.Clock, Log: cfg.Log,
	}))
	engine.AddWorker(queue, retaining.Parts{DB: s.db.DB, Clock: cfg.Clock}.Partitions(cfg.Log))
	engine.AddWorker(queue, webhooks.PurgeWorker(s.db.Webhooks(), s.db.Orgs().OrgIDs, cfg.Clock))
	engine.AddWorker(queue, domains.Receiving.VerifyWorker())
	engine.AddWorker(queue, receiving.PurgeWorker(receiving.PurgeConfig{
		Store: s.db.ReceivedDeliveries(), Routing: s.db.ReceivingRoutes(), Objects: s.incoming.Stores, Orgs: s.db.Orgs().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
	}))
	engine.AddWorker(queue, s.incoming.SweepWorker(s.db.Orgs().OrgIDs, s.db.ReceivedMail(), s.db.Inboxes(), s.db.ReceivedDeliveries(), s.db.ReportArrivals()))
	s.reports.AddWorkers(queue, s.handover, public.App+domainauth.ListPath)
	engine.AddWorker(queue, retaining.Parts{DB: s.db.DB, Orgs: s.db.Orgs(), Audit: s.db.Audit(), Clock: cfg.Clock}.Worker(s.erased, workflowstore.NewTimerStore(s.db.DB), cfg.Log))
	engine.AddWorker(queue, replay.PurgeWorker(s.db.Replay(), cfg.Clock, cfg.Log))
	engine.AddWorker(queue, access.PurgeWorker(s.db.Access(), cfg.Clock, cfg.Log))
	engine.AddWorker(queue, signing.PurgeWorker(s.db.SigningKeys(), cfg.Clock, cfg.Log))
	engine.AddWorker(queue, closing.Eraser{
		Store: closingstore.NewOrgStore(s.db.DB), Orgs: s.db.Orgs(), Account: s.account.Erase, Clock: cfg.Clock, Log: cfg.Log,
		Objects: func(ctx context.Context, orgID string) error {
			return objects.EraseAll(ctx, s.incoming.Stores, s.db.MailBuckets(s.master), orgID, cfg.Clock())
		},
	}.Worker())
	engine.AddWorker(queue, domains.Senders.Worker())
	engine.AddWorker(queue, senders.ForgetWorker(s.db.VerifiedSenders(), s.db.SenderStarts(), s.db.Orgs().OrgIDs, cfg.Clock))
	s.signIn(cfg, public).AddWorkers(queue)
	// GraceWorker revokes rotated keys at the end of their grace period. It need not remove
	// them from the cache of authenticated callers, the field Principals of Lifecycle,
	// because their cache entries expire at the same time.
	keys := access.Lifecycle{Stores: s.db.Access(), Orgs: s.db.Orgs(), Transactor: s.db, Clock: cfg.Clock}
	engine.AddWorker(queue, keys.GraceWorker(cfg.Log))
	if err := queue.Start(ctx); err != nil {
		return nil, err
	}
	// This job continues the imports of a killed process at once. The periodic job runs only
	// in the process that River elects, and after a kill the next election takes a while.
	if err := queue.Enqueue(ctx, contactimport.UploadArgs{}); err != nil {
		return nil, errors.Join(err, queue.Stop(ctx))
	}
	return queue, nil
}

// addAccountJobs adds the jobs that follow a change of an organization's connection; see
// [accounts.SyncAccount].
func addAccountJobs(queue *engine.Jobs, cfg config.Config, s *stores, domains catalogue.Domains) {
	forget := remembered{s, domains}.forgetAccount
	engine.AddWorker(queue, accounts.Reread(forget, domains.Channels.SyncWorker()))
	engine.AddWorker(queue, accounts.Reread(forget, domains.Templates.SyncWorker()))
	engine.AddWorker(queue, accounts.Reread(forget, domains.Sync.Worker()))
	engine.AddWorker(queue, accounts.Reread(forget, newDeployer(cfg, s, images.Resolve(domains.Assets)).Worker()))
	engine.AddWorker(queue, accounts.Reread(forget, domains.Segments.SweepWorker()))
}
