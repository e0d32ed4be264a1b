package mailstores

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/s3"
	"github.com/mailhelm/mailhelm/core/signing"
)

// Received has the places in which a server keeps received mail.
type Received struct {
	// Files serves the links to objects in the data folder.
	Files *files.Files
	// Locator finds the store of an organization.
	Locator *objects.Locator
	// Deposits opens what other services put into the buckets of organizations.
	Deposits objects.Deposits
	// Settings has no Record, which the pages add.
	Settings objects.Settings
	buckets  *s3.Buckets
}

// Open opens the folder of received mail, and prepares connections to buckets. fetchURL is
// the public address of the fetch host. The caller closes it.
func Open(cfg config.Config, stored objects.BucketStore, transactor core.Transactor, master signing.MasterKey, fetchURL string) (*Received, error) {
	kept, err := Files(cfg, master, fetchURL)
	if err != nil {
		return nil, err
	}
	buckets, err := Buckets(cfg)
	if err != nil {
		return nil, err
	}
	r := &Received{Files: kept, Deposits: objects.Deposits{Buckets: stored, Opener: buckets}, buckets: buckets}
	r.Locator = objects.NewLocator(objects.LocatorConfig{Buckets: stored, Opener: buckets, Files: kept.Of, Clock: cfg.Clock})
	r.Settings = objects.NewSettings(objects.SettingsConfig{
		Buckets: stored, Opener: buckets, Files: func(orgID string) (objects.Store, error) { return kept.Of(orgID), nil },
		Transactor: transactor, Networks: len(cfg.BucketNetworks) > 0, Clock: cfg.Clock, Forget: r.Locator.Forget,
	})
	return r, nil
}

// Follow removes temporary files of killed processes, at once and every hour, until ctx ends.
func (r *Received) Follow(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(files.SweepEvery)
	defer ticker.Stop()
	r.Files.Follow(ctx, ticker.C, log)
}

// Close closes connections to buckets.
func (r *Received) Close() { r.buckets.Close() }
