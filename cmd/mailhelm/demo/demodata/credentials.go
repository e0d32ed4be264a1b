package demodata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/core"
)

// credentialsFile is the name of the file that stores the demo's secrets in clear text. The
// database holds only their hashes.
const credentialsFile = "demo.json"

// Credentials are the credentials of the demo organization. A file in the data folder
// stores them in clear text.
type Credentials struct {
	OrgID            string `json:"org_id"`
	ClientID         string `json:"client_id"`
	ClientSecret     string `json:"client_secret"`
	TestClientID     string `json:"test_client_id"`
	TestClientSecret string `json:"test_client_secret"`
	APIKey           string `json:"api_key"`
	TestAPIKey       string `json:"test_api_key"`
	UserEmail        string `json:"user_email"`
	UserPassword     string `json:"user_password"`
}

// IsNew reports whether the data folder has no credentials yet, so that the demo's data is missing.
func IsNew(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, credentialsFile))
	return errors.Is(err, fs.ErrNotExist)
}

// create adds an OAuth client and an API key for each environment, live and test, each with
// these scopes. It fills in their ids and secrets. It runs in the transaction of ctx.
func (c *Credentials) create(ctx context.Context, a provision.Provisioner, scopes core.Scopes) error {
	for _, one := range []struct {
		env                   core.Environment
		clientID, secret, key *string
	}{
		{core.Live, &c.ClientID, &c.ClientSecret, &c.APIKey},
		{core.Test, &c.TestClientID, &c.TestClientSecret, &c.TestAPIKey},
	} {
		g := provision.Grant{OrgID: c.OrgID, Name: "Demo " + string(one.env), Environment: one.env, Scopes: scopes}
		client, secret, err := a.CreateClient(ctx, g)
		if err != nil {
			return err
		}
		*one.clientID, *one.secret = client.ClientID, secret
		if _, *one.key, err = a.CreateAPIKey(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// write replaces the file at path atomically: a crash leaves the old file or the new one,
// never a part. Only the file's owner may read it.
func (c Credentials) write(path string) error {
	text, err := json.MarshalIndent(c, "", "  ") //nolint:gosec // the file is where the secrets are kept
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".demo-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // gone after the rename
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// readCredentials reads the stored credentials of the organization orgID. It fails if the
// file is missing or contains another organization's credentials. The error explains how to
// start over.
func readCredentials(path, orgID string) (Credentials, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Credentials{}, fmt.Errorf("%s is missing, and the database holds only hashes of the demo's secrets: put the file back, or remove the folder %s to start over", path, filepath.Dir(path))
	}
	if err != nil {
		return Credentials{}, err
	}
	var c Credentials
	if err := json.Unmarshal(text, &c); err != nil || c.OrgID != orgID {
		return Credentials{}, fmt.Errorf("%s does not belong to the database in its folder: restore the right file, or remove the folder %s to start over", path, filepath.Dir(path))
	}
	return c, nil
}
