package admin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mailhelm/mailhelm/core/signing"
)

// masterKey returns the server's master key. configured is the key from the environment or
// the configuration file; "" means the file in the data folder. It fails if that file is
// missing. It never creates a key, because a new one could not decrypt the server's data.
func (s *session) masterKey(configured string) (signing.MasterKey, error) {
	cfg := s.Config
	cfg.MasterKey = configured
	if _, err := os.Stat(cfg.MasterKeyFile()); configured == "" && errors.Is(err, fs.ErrNotExist) {
		return signing.MasterKey{}, fmt.Errorf("there is no master key in %s: name the server's data folder with --data, or set MAILHELM_MASTER_KEY", cfg.DataDir)
	}
	return cfg.OpenMasterKey()
}
