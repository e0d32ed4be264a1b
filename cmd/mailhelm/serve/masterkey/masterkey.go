// Package masterkey opens the master key of a server. A server makes a key only beside an empty
// database: a new key could not open what another key has sealed.
package masterkey

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
)

// Open returns the master key of the configuration. If none is configured and the key file is
// missing, it creates the file, unless the database has keys that another master key sealed. It
// fails if the master key does not open these keys. The database has the current schema. While a
// rotation is not finished, the former and the next master key both open everything.
func Open(ctx context.Context, cfg config.Config, store signing.Store, keys signing.MasterKeyStore) (signing.MasterKey, error) {
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return signing.MasterKey{}, fmt.Errorf("read signing keys: %w", err)
	}
	key, err := cfg.ReadMasterKey()
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(stored) > 0:
		return signing.MasterKey{}, fmt.Errorf("there is no master key in %s, and the database has data of another one, which a new key could not open: copy master.key there from another server or from the backup, or set MAILHELM_MASTER_KEY", cfg.MasterKeyFile())
	case errors.Is(err, fs.ErrNotExist):
		if key, err = cfg.OpenMasterKey(); err != nil {
			return signing.MasterKey{}, err
		}
	case err != nil:
		return signing.MasterKey{}, err
	}
	if err = key.Follow(ctx, keys, cfg.Clock); err == nil {
		err = signing.CheckKeys(stored, key)
	}
	if err != nil {
		return signing.MasterKey{}, fmt.Errorf("the master key %s is not that of this database: use the one of the other servers or of the backup: %w", cfg.MasterKeySource(), err)
	}
	return key, nil
}

// switchEvery is the interval at which a server looks whether another master key seals new
// values.
const switchEvery = 5 * time.Second

// Follow takes over a new master key when a rotation begins, until ctx ends.
func Follow(ctx context.Context, key signing.MasterKey, keys signing.MasterKeyStore, log *slog.Logger) {
	ticker := time.NewTicker(switchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		before := key.SealsWith()
		if err := key.Reload(core.WithLane(ctx, core.Background), keys); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the master keys are not read", "error", err)
		} else if after := key.SealsWith(); after != before {
			log.InfoContext(ctx, "another master key seals new values", "key", after)
		}
	}
}
