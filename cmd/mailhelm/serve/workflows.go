package serve

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/journeys"
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
		Schemas: s.db.Segments(), Subjects: s.db.Subjects(), Members: s.db.SegmentMembers(), Triggers: workflowstore.NewTriggerStore(s.db.DB), Caps: workflowstore.New(s.db.DB),
	})
	return workflows.New(workflows.Config{
		Store: workflowstore.New(s.db.DB), Runs: workflowstore.NewRunStore(s.db.DB), Holds: workflowstore.NewRunStore(s.db.DB), Timers: workflowstore.NewTimerStore(s.db.DB), Entries: workflowstore.NewEntryStore(s.db.DB),
		Transactor: s.db, Schemas: workflowSchemas(s.db), DryRuns: trial, Estimates: trial,
		Orgs: s.db.Orgs().OrgIDs, Wake: func() { s.journeys.Wake() }, Clock: cfg.Clock, Log: cfg.Log,
	})
}

func workflowSchemas(db *storage.DB) outgoing.WorkflowSchemas {
	return outgoing.WorkflowSchemas{Segments: db.Segments(), Templates: db.Templates()}
}

// changesOfContacts is called with contacts that have changed, in the transaction of the change.
type changesOfContacts = func(ctx context.Context, orgID string, contactIDs []string) error

// bothChanges returns a function that calls both.
func bothChanges(first, second changesOfContacts) changesOfContacts {
	return func(ctx context.Context, orgID string, contactIDs []string) error {
		if err := first(ctx, orgID, contactIDs); err != nil {
			return err
		}
		return second(ctx, orgID, contactIDs)
	}
}

// newWorkflowObserver returns the value that notes triggers of workflows and changes of contacts.
func newWorkflowObserver(db *storage.DB) runner.Observer {
	return runner.Observer{Entries: workflowstore.NewEntryStore(db.DB), Changes: workflowstore.NewChangeStore(db.DB)}
}

// newJourneys returns what moves the runs of workflows in this process. It does nothing yet.
func newJourneys(cfg config.Config, s *stores, of catalogue.Domains) *journeys.Journeys {
	return journeys.New(journeys.Config{
		DB: s.db, Schemas: workflowSchemas(s.db),
		Mail: mailing.Config{
			Steps: s.handover, Templates: outgoing.NewestContent{Templates: of.Templates}, Senders: outgoing.Senders{Store: s.db.Channels(), Orgs: s.db.Orgs()},
			Links: outgoing.Links{Signed: s.links}, Finish: finishContent(newMailSettings(cfg, s)), Wait: outgoing.WaitUntil(cfg.Clock),
		},
		Contacts: outgoing.WorkflowContacts{
			Contacts: s.db.Contacts(), Lists: s.db.Lists(), Members: s.db.ListMembers(), Clock: cfg.Clock,
			Changed: bothChanges(of.Segments.ObserveChange, newWorkflowObserver(s.db).ObserveChange),
		},
		Revalidate: of.Workflows.Revalidate, Clock: cfg.Clock, Log: cfg.Log,
	})
}
