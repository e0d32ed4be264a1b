package serve

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contactimport"
	contactimportstore "github.com/mailhelm/mailhelm/storage/contactimport"
)

// newUploads returns the imports of uploaded contact files. Pages and jobs each have one: only that
// of the jobs imports.
func newUploads(cfg config.Config, s *stores, writes *bulk.Bulk) *contactimport.Uploads {
	// The job that imports a file also processes its bulk writes, so they need no queued job.
	direct := writes.Config
	direct.Queue = nil
	return contactimport.NewUploads(contactimport.UploadConfig{
		Store: contactimportstore.New(s.db.DB), Contacts: bulk.New(direct), Transactor: s.db, Queue: s.queue, Processes: s.process, Orgs: s.db.Orgs().OrgIDs, Clock: cfg.Clock, Log: cfg.Log,
		PartsAtOnce: contactimportstore.PartsAtOnce(s.db.DB),
	})
}
