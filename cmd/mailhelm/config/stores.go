package config

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/signing"
)

// OpenMasterKey returns the configured master key, or the one in the data folder. It
// creates the key in the data folder if it is missing.
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
