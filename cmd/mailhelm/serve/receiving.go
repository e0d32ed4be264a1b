package serve

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/mailin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/signing"
)

// mailFolder is the folder of received mail in the data folder.
const mailFolder = "mail"

// localObjects keeps the received mail of all organizations in the data folder.
type localObjects struct{ *files.Files }

// openObjects opens the store of received mail.
func openObjects(cfg config.Config, public config.Public, master signing.MasterKey) (objects.Stores, error) {
	key, err := master.Derive(files.KeyPurpose, files.KeyBytes)
	if err != nil {
		return nil, fmt.Errorf("key of links to received mail: %w", err)
	}
	opened, err := files.New(files.Config{Folder: filepath.Join(cfg.DataDir, mailFolder), Key: key, FetchURL: public.Fetch, Clock: cfg.Clock})
	if err != nil {
		return nil, err
	}
	return localObjects{opened}, nil
}

// Of implements [objects.Stores].
func (l localObjects) Of(_ context.Context, orgID string) (objects.Store, error) {
	return l.Files.Of(orgID), nil
}

// At implements [objects.Stores].
func (l localObjects) At(_ context.Context, orgID, storeID string) (objects.Store, error) {
	if storeID != objects.FilesID {
		return nil, core.NotFound("store")
	}
	return l.Files.Of(orgID), nil
}

// newReceived returns what receives, publishes and delivers the mail of receiving domains.
func newReceived(cfg config.Config, s *stores) *mailin.Domains {
	deliveries, log := s.db.ReceivedDeliveries(), s.db.ReceivedLog()
	return mailin.New(cfg, mailin.Stores{
		Domains: s.db.ReceivingDomains(), Log: log, Ending: log, Routes: s.db.ReceivingRoutes(), Deliveries: deliveries, Queue: deliveries, Identities: s.db.Channels(),
		Objects: s.objects, Transactor: s.db, Audit: s.db.Audit(), Sealer: s.master, DNS: newDNS(s),
	})
}
