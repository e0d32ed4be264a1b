package config

import (
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core/signing"
)

// OpenMasterKey returns the configured master key. If none is configured, it reads the key
// file, and creates the file with a new key if it is missing.
func (c Config) OpenMasterKey() (signing.MasterKey, error) {
	if c.MasterKey != "" {
		return c.ReadMasterKey()
	}
	key, err := signing.LoadMasterKey(c.MasterKeyFile())
	return key, c.keyFileError(err)
}

// keyFileError names the setting of the key file in an error, if it is set.
func (c Config) keyFileError(err error) error {
	if err == nil || c.MasterKeyPath == "" {
		return err
	}
	return fmt.Errorf("--master-key-file: %w", err)
}

// DatabaseError names the setting of the database in the error of opening it, if it is not the
// file in the data folder. url is the database URL.
func DatabaseError(url string, err error) error {
	direct, ok := errors.AsType[interface {
		error
		Direct() bool
	}](err)
	if ok && direct.Direct() {
		return fmt.Errorf("--database-direct-url: %w", err)
	}
	replica, ok := errors.AsType[interface {
		error
		Replica() bool
	}](err)
	if ok && replica.Replica() {
		return fmt.Errorf("--database-replica-url: %w", err)
	}
	if err == nil || url == "" {
		return err
	}
	return fmt.Errorf("--database-url: %w", err)
}

// checkDatabase returns an error if a setting needs PostgreSQL, and no database URL is set.
func (c Config) checkDatabase() error {
	if c.Role != All && c.DatabaseURL == "" {
		return fmt.Errorf("--role %s needs --database-url: SQLite is for one process, so the jobs of another process would never run", c.Role)
	}
	if c.DatabaseDirectURL != "" && c.DatabaseURL == "" {
		return fmt.Errorf("--database-direct-url needs --database-url: the direct address is that of a database behind a pooler")
	}
	if c.DatabaseReplicaURL != "" && c.DatabaseURL == "" {
		return fmt.Errorf("--database-replica-url needs --database-url: the replica is a standby of that database")
	}
	return nil
}

// ReadMasterKey returns the configured master key, or that in the key file. It fails with
// fs.ErrNotExist if the file is missing.
func (c Config) ReadMasterKey() (signing.MasterKey, error) {
	if c.MasterKey == "" {
		key, err := signing.ReadMasterKey(c.MasterKeyFile())
		return key, c.keyFileError(err)
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
