package serve

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/images"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/mailing"
	"github.com/mailhelm/mailhelm/core/workflows/population"
	"github.com/mailhelm/mailhelm/core/workflows/runner"
	"github.com/mailhelm/mailhelm/storage"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

// newWorkflows returns the value that implements the operations on workflows.
func newWorkflows(cfg config.Config, s *stores) *workflows.Workflows {
	trial := population.New(population.Config{
		Schemas: s.db.Segments(), Subjects: s.db.Subjects(), Members: s.db.SegmentMembers(), Triggers: workflowstore.NewTriggerStore(s.db.DB), Caps: workflowstore.New(s.db.DB), Runs: workflowstore.NewRunStore(s.db.DB), Past: workflowstore.NewEntryStore(s.db.DB),
	})
	return workflows.New(workflows.Config{
		Store: workflowstore.New(s.db.DB), Runs: workflowstore.NewRunStore(s.db.DB), Holds: workflowstore.NewRunStore(s.db.DB), Timers: workflowstore.NewTimerStore(s.db.DB), Entries: workflowstore.NewEntryStore(s.db.DB),
		Transactor: s.db, Schemas: workflowSchemas(s.db), DryRuns: trial, Estimates: trial,
		Orgs: s.db.Orgs().OrgIDs, Wake: func() { s.journeys.wake() }, Clock: cfg.Clock, Log: cfg.Log,
	})
}

func workflowSchemas(db *storage.DB) outgoing.WorkflowSchemas {
	return outgoing.WorkflowSchemas{Segments: db.Segments(), Templates: db.Templates()}
}

// newWorkflowObserver returns the value that notes triggers of workflows and changes of contacts.
func newWorkflowObserver(db *storage.DB) runner.Observer {
	return runner.Observer{Entries: workflowstore.NewEntryStore(db.DB), Changes: workflowstore.NewChangeStore(db.DB)}
}

// journeys moves the runs of workflows and sends their messages.
type journeys struct {
	runner *runner.Runner
	mailer *mailing.Mailer
}

// newJourneys returns the runner and the mailer of this process, which do nothing yet. Call it
// before the jobs start, because the sync of channels reports to the mailer.
func newJourneys(cfg config.Config, s *stores, of catalogue.Domains) *journeys {
	var j journeys
	j.mailer = mailing.New(mailing.Config{
		Store: workflowstore.NewMailStore(s.db.DB), Steps: s.handover, Templates: outgoing.NewestContent{Templates: of.Templates},
		Senders: outgoing.Senders{Store: s.db.Channels(), Orgs: s.db.Orgs()}, Links: outgoing.Links{Signed: s.links}, Finish: images.Finish(newMailSettings(cfg, s), of.Assets),
		Continue: func() { j.runner.Wake() }, Wait: outgoing.WaitUntil(cfg.Clock), Clock: cfg.Clock, Log: cfg.Log,
	})
	j.runner = runner.New(runner.Config{
		Store: workflowstore.New(s.db.DB), Timers: workflowstore.NewTimerStore(s.db.DB), Entries: workflowstore.NewEntryStore(s.db.DB),
		Changes: workflowstore.NewChangeStore(s.db.DB), Mails: workflowstore.NewMailStore(s.db.DB),
		Transactor: s.db, Subjects: s.db.Subjects(), Schemas: workflowSchemas(s.db), Contacts: outgoing.WorkflowContacts{
			Contacts: s.db.Contacts(), Lists: s.db.Lists(), Members: s.db.ListMembers(), Clock: cfg.Clock,
			Changed: outgoing.Both(of.Segments.ObserveChange, newWorkflowObserver(s.db).ObserveChange),
		},
		Revalidate: of.Workflows.Revalidate, Mailed: j.mailer.Wake, Clock: cfg.Clock, Log: cfg.Log,
	})
	of.Channels.OnSync = j.mailer.Retry
	return &j
}

// follow starts the runner and the mailer. The returned function stops both, and waits until the
// calls of sending accounts that they have begun have ended.
func (j *journeys) follow() func() {
	ctx, cancel := context.WithCancel(context.Background())
	moves, mails := time.NewTicker(runner.LookEvery), time.NewTicker(mailing.LookEvery)
	var running sync.WaitGroup
	running.Go(func() { j.runner.Follow(ctx, moves.C) })
	running.Go(func() { j.mailer.Follow(ctx, mails.C) })
	return func() {
		moves.Stop()
		mails.Stop()
		cancel()
		running.Wait()
	}
}

// wake lets the runner look for work at once. A process without one leaves that to the others,
// which look every second.
func (j *journeys) wake() {
	if j != nil {
		j.runner.Wake()
	}
}
