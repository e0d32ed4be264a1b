package incoming

import (
	"context"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/s3"
)

// stored has the places in which received mail is kept.
type stored struct {
	files   *files.Files
	buckets *s3.Buckets
	// locator finds the store of an organization.
	locator *objects.Locator
	// settings has no function Record, which the pages add.
	settings objects.Settings
}

// openStored opens the folder of received mail, and prepares connections to buckets.
func openStored(n Needs) (*stored, error) {
	kept, err := mailstores.Files(n.Config, n.Master, n.Public.Fetch)
	if err != nil {
		return nil, err
	}
	buckets, err := mailstores.Buckets(n.Config)
	if err != nil {
		return nil, err
	}
	s := &stored{files: kept, buckets: buckets}
	s.locator = objects.NewLocator(objects.LocatorConfig{Buckets: n.Buckets, Opener: buckets, Files: kept.Of, Clock: n.Config.Clock})
	s.settings = objects.NewSettings(objects.SettingsConfig{
		Buckets: n.Buckets, Opener: buckets, Files: func(orgID string) (objects.Store, error) { return kept.Of(orgID), nil },
		Transactor: n.Transactor, Networks: len(n.Config.BucketNetworks) > 0, Clock: n.Config.Clock, Forget: s.locator.Forget,
	})
	return s, nil
}

// sweep removes temporary files of killed processes once an hour until ctx ends.
func (s *stored) sweep(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(files.SweepEvery)
	defer ticker.Stop()
	s.files.Follow(ctx, ticker.C, log)
}
