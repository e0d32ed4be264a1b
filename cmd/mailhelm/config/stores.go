package config

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core/signing"
)

// OpenMasterKey returns the configured master key. If none is configured, it reads the key
// file, and creates the file with a new key if it is missing.
func (c Config) OpenMasterKey() (signing.MasterKey, error) {
	if c.MasterKey != "" {
		return c.ReadMasterKey()
	}
	return signing.LoadMasterKey(c.MasterKeyFile())
}

// ReadMasterKey returns the configured master key, or that in the key file. It fails with
// fs.ErrNotExist if the file is missing.
func (c Config) ReadMasterKey() (signing.MasterKey, error) {
	if c.MasterKey == "" {
		return signing.ReadMasterKey(c.MasterKeyFile())
	}
	key, err := signing.ParseMasterKey(c.MasterKey)
	if err != nil {
		return signing.MasterKey{}, fmt.Errorf("MAILHELM_MASTER_KEY: %w", err)
	}
	return key, nil
}

// MasterKeySource says where the master key comes from, such as "in /data/master.key".
func (c Config) MasterKeySource() string {
	if c.MasterKey != "" {
		return "in MAILHELM_MASTER_KEY"
	}
	return "in " + c.MasterKeyFile()
}
