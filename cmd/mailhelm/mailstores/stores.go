// Package mailstores opens the places in which received mail is kept, for a server and for
// commands of the operator.
package mailstores

import (
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/s3"
	"github.com/mailhelm/mailhelm/core/signing"
)

// Files opens the folder of received mail in the data folder, and creates it if it is
// missing. fetchURL is the public address of the fetch host, for links; a command that makes
// no links passes "".
func Files(cfg config.Config, master signing.MasterKey, fetchURL string) (*files.Files, error) {
	key, err := master.Derive(files.KeyPurpose, files.KeyBytes)
	if err != nil {
		return nil, fmt.Errorf("key of links to received mail: %w", err)
	}
	return files.New(files.Config{Folder: cfg.ObjectsFolder(), Key: key, FetchURL: fetchURL, Clock: cfg.Clock})
}

// Buckets opens buckets of customers. The caller closes it. It fails if the configuration
// names an invalid network.
func Buckets(cfg config.Config) (*s3.Buckets, error) {
	networks, err := cfg.NetworksOfBuckets()
	if err != nil {
		return nil, err
	}
	return s3.New(s3.Config{Allowed: networks, Clock: cfg.Clock, Timeout: cfg.BucketTimeout}), nil
}
