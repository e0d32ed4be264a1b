// Package masterkey opens the master key of a server. A server makes a key only beside an empty
// database: a new key could not open what another key has sealed.
package masterkey

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/signing"
)

// Open returns the master key of the configuration. If none is configured and the key file is
// missing, it creates the file, unless the database has keys that another master key sealed. It
// fails if the master key does not open these keys. The database has the current schema.
func Open(ctx context.Context, cfg config.Config, store signing.Store) (signing.MasterKey, error) {
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return signing.MasterKey{}, fmt.Errorf("read signing keys: %w", err)
	}
	key, err := cfg.ReadMasterKey()
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(stored) > 0:
		return signing.MasterKey{}, fmt.Errorf("there is no master key in %s, and the database has data of another one, which a new key could not open: copy master.key there from another server or from the backup, or set MAILHELM_MASTER_KEY", cfg.MasterKeyFile())
	case errors.Is(err, fs.ErrNotExist):
		return cfg.OpenMasterKey()
	case err != nil:
		return signing.MasterKey{}, err
	}
	if err := signing.CheckKeys(stored, key); err != nil {
		return signing.MasterKey{}, fmt.Errorf("the master key %s is not that of this database: use the one of the other servers or of the backup: %w", cfg.MasterKeySource(), err)
	}
	return key, nil
}
