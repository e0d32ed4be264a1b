package accounts

import (
	"context"

	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Reread returns a worker for jobs of [SyncAccount]. It calls forget before each job of one organization, so
// that the job reads the organization's connection from the database. A process keeps a connection for some
// seconds. Without this, a job that another process enqueued after it had changed the connection could copy the
// data of the earlier account, and the next copy would come a quarter of an hour later.
func Reread[T jobs.Args](forget func(orgID string), w jobs.Worker[T]) jobs.Worker[T] {
	work := w.Work
	w.Work = func(ctx context.Context, args T) error {
		if orgID := orgOf(args); orgID != "" {
			forget(orgID)
		}
		return work(ctx, args)
	}
	return w
}

// orgOf returns the organization of a job of syncs, or "" if it is for all organizations.
func orgOf(args jobs.Args) string {
	switch a := args.(type) {
	case channels.SyncArgs:
		return a.OrgID
	case templates.SyncArgs:
		return a.OrgID
	case templates.DeployArgs:
		return a.OrgID
	case topics.SyncArgs:
		return a.OrgID
	case segments.SweepArgs:
		return a.OrgID
	}
	return ""
}
