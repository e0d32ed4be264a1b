package config

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
)

// OpenMasterKey reads the configured master key, or that of the data folder,
// which is made when missing.
func (c Config) OpenMasterKey() (signing.MasterKey, error) {
	if c.MasterKey != "" {
		key, err := signing.ParseMasterKey(c.MasterKey)
		if err != nil {
			return signing.MasterKey{}, fmt.Errorf("MAILHELM_MASTER_KEY: %w", err)
		}
		return key, nil
	}
	return signing.LoadMasterKey(c.MasterKeyFile())
}

// Storage is the part of the configuration that says which database.
func (c Config) Storage() storage.Config {
	return storage.Config{URL: c.DatabaseURL, Dir: c.DataDir, MaxConns: c.MaxConns, CallerWait: c.CallerWait, Clock: c.Clock, Logger: c.Log}
}

// MissingMigrations counts the steps of the schema that the database lacks.
func MissingMigrations(ctx context.Context, db *storage.DB) (int, error) {
	steps, err := db.MigrationStatus(ctx)
	if err != nil {
		return 0, err
	}
	missing := 0
	for _, step := range steps {
		if !step.Applied {
			missing++
		}
	}
	return missing, nil
}
