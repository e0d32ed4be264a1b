package sending

import (
	"context"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// SyncResultStore stores how the latest syncs with sending accounts ended.
type SyncResultStore struct{ db *engine.DB }

var _ sending.SyncRecorder = SyncResultStore{}

// NewSyncResultStore returns the store of results of syncs on the database.
func NewSyncResultStore(db *engine.DB) SyncResultStore { return SyncResultStore{db} }

// syncResultRow is the result of the latest sync of one kind.
type syncResultRow struct {
	Kind        sending.SyncKind    `db:"kind"`
	EndedAt     engine.Time         `db:"ended_at"`
	Failure     sending.FailureKind `db:"failure"`
	SucceededAt *engine.Time        `db:"succeeded_at"`
}

var (
	saveSyncResult = engine.Register("save sync result", `
		INSERT INTO sync_results (org_id, kind, ended_at, failure, succeeded_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, kind) DO UPDATE SET ended_at = excluded.ended_at, failure = excluded.failure,
			succeeded_at = coalesce(excluded.succeeded_at, sync_results.succeeded_at)`)
	// syncResults selects the few rows of an organization through the primary key.
	syncResults = engine.Register("sync results", `
		SELECT kind, ended_at, failure, succeeded_at FROM sync_results WHERE org_id = $1 ORDER BY kind`)
)

func (s SyncResultStore) SaveSyncResult(ctx context.Context, orgID string, r sending.SyncResult) error {
	_, err := s.db.Exec(ctx, saveSyncResult, orgID, string(r.Kind), engine.At(r.EndedAt), string(r.Failure), engine.OptionalAt(r.SucceededAt))
	return err
}

// SyncResults returns the result of the organization's latest sync of each kind, ordered by
// kind. A kind that has not been synced yet is missing.
func (s SyncResultStore) SyncResults(ctx context.Context, orgID string) ([]sending.SyncResult, error) {
	result := func(r syncResultRow) sending.SyncResult {
		return sending.SyncResult{Kind: r.Kind, EndedAt: r.EndedAt.Time(), Failure: r.Failure, SucceededAt: engine.OptionalTime(r.SucceededAt)}
	}
	return engine.ListAs(ctx, s.db, result, syncResults, orgID)
}
