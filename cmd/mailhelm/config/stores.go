package config

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/signing"
)

// OpenMasterKey returns the configured master key. If none is configured, it reads the key
// file in the data folder, and creates the file with a new key if it is missing.
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
