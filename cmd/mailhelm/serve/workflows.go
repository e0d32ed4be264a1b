package serve

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/core/workflows"
)

// newWorkflows returns the value that implements the operations on workflows.
func newWorkflows(cfg config.Config, s *stores) *workflows.Workflows {
	return workflows.New(workflows.Config{
		Store: s.db.Workflows(), Runs: s.db.WorkflowRuns(), Holds: s.db.WorkflowHolds(), Timers: s.db.WorkflowTimers(), Entries: s.db.WorkflowEntries(),
		Transactor: s.db, Schemas: outgoing.WorkflowSchemas{Segments: s.db.Segments(), Templates: s.db.Templates()},
		Orgs: s.db.Orgs().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
	})
}
