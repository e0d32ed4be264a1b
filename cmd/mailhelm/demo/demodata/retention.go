package demodata

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/retention"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
)

// retain stores that the job which deletes old records ran, and that the organization keeps its
// audit log longer than by default.
func retain(ctx context.Context, p Past, orgID string) error {
	store, now := retentionstore.New(p.DB.DB), p.Clock()
	for _, name := range retention.Names() {
		for _, ran := range []time.Time{now.AddDate(0, 0, -60), now.Add(-2 * time.Hour)} {
			if err := store.NoteRun(ctx, orgID, name, ran, 0); err != nil {
				return err
			}
		}
	}
	before, days := func() time.Time { return now.AddDate(0, 0, -45) }, 730
	settings := retention.Settings{Store: store, Orgs: p.DB.Orgs().Org, Audit: p.DB.Audit(), Transactor: p.DB, Clock: before}
	_, err := settings.Set(ctx, access.System(), orgID, retention.Change{Kind: retention.AuditLog, Days: &days})
	return err
}
