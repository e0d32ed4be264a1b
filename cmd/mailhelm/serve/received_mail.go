package serve

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/s3"
)

// receivedMail has the places in which received mail is kept.
type receivedMail struct {
	files    *files.Files
	buckets  *s3.Buckets
	locator  *objects.Locator // finds the store of an organization
	settings objects.Settings // without Record, which the pages add
}

// openReceivedMail opens the folder of received mail, and prepares connections to buckets.
func openReceivedMail(cfg config.Config, public config.Public, s *stores) (*receivedMail, error) {
	kept, err := mailstores.Files(cfg, s.master, public.Fetch)
	if err != nil {
		return nil, err
	}
	buckets, err := mailstores.Buckets(cfg)
	if err != nil {
		return nil, err
	}
	m := &receivedMail{files: kept, buckets: buckets}
	m.locator = objects.NewLocator(objects.LocatorConfig{Buckets: s.db.MailBuckets(s.master), Opener: buckets, Files: kept.Of, Clock: cfg.Clock})
	m.settings = objects.NewSettings(objects.SettingsConfig{
		Buckets: s.db.MailBuckets(s.master), Opener: buckets, Files: func(orgID string) (objects.Store, error) { return kept.Of(orgID), nil },
		Transactor: s.db, Networks: len(cfg.BucketNetworks) > 0, Clock: cfg.Clock, Forget: m.locator.Forget,
	})
	return m, nil
}

// follow removes temporary files of killed processes once an hour until ctx ends.
func (m *receivedMail) follow(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(files.SweepEvery)
	defer ticker.Stop()
	m.files.Follow(ctx, ticker.C, log)
}
