package accounts

import (
	"context"

	"github.com/mailhelm/mailhelm/core/jobs"
)

// Reread returns a worker for jobs of [SyncAccount]. It calls forget before each job of one organization, so
// that the job reads the organization's connection from the database. A process keeps a connection for some
// seconds. Without this, a job that another process enqueued after it had changed the connection could copy the
// data of the earlier account, and the next copy would come a quarter of an hour later.
func Reread[T jobs.OrgArgs](forget func(orgID string), w jobs.Worker[T]) jobs.Worker[T] {
	work := w.Work
	w.Work = func(ctx context.Context, args T) error {
		if orgID := args.Org(); orgID != "" {
			forget(orgID)
		}
		return work(ctx, args)
	}
	return w
}
