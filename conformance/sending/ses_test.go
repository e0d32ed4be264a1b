package sending_test

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	conformance "github.com/mailhelm/mailhelm/conformance/sending"
	"github.com/mailhelm/mailhelm/conformance/sending/wire"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSES runs the tests of package conformance/sending for the SES adapter. The adapter
// calls a simulated account through package wire, which imitates the API of Amazon SES.
// Each organization has a stored connection, as in the product.
func TestSES(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Subject {
		c := connectedAccount{engine: newEngine(t)}
		master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
		if err != nil {
			t.Fatal(err)
		}
		c.connections = storagetest.SQLite(t).Connections(master)
		c.accounts = c.open()
		return conformance.Subject{
			Account: c.accounts, Seed: c.seed, Fail: c.fail,
			Restart: func(t *testing.T) sending.Account {
				t.Helper()
				c.restart(t)
				return c.open()
			},
		}
	})
}

// connectedAccount is a simulated account that adapters reach through stored connections.
type connectedAccount struct {
	*engine
	connections sending.Connections
	accounts    *sending.Accounts
}

// accessKey returns the access key of an organization. The imitated SES API refuses
// requests for this organization with any other key.
func accessKey(orgID string) string { return "AKID" + orgID }

// open returns the accounts of all organizations. Calls of an organization without a
// connection go to the simulator directly. The simulator has no account for such an
// organization.
func (c connectedAccount) open() *sending.Accounts {
	engine := c.Simulator
	return sending.NewAccounts(sending.AccountsConfig{
		Connections: c.connections, Otherwise: engine, Clock: c.clock,
		Open: map[sending.Provider]sending.Open{sending.SES: func(stored sending.Connection) (sending.Account, error) {
			transport := wire.Transport(wire.Config{Account: engine, OrgID: stored.OrgID, AccessKeyID: accessKey(stored.OrgID)})
			return ses.Open(ses.Config{
				HTTPClient: &http.Client{Transport: transport}, Clock: c.clock, RetryDelay: time.Millisecond,
			})(stored)
		}},
	})
}

func (c connectedAccount) seed(t *testing.T, orgID string, setup conformance.Setup) {
	t.Helper()
	c.engine.seed(t, orgID, setup)
	if err := c.connections.SaveConnection(t.Context(), sending.Connection{
		OrgID: orgID, Provider: sending.SES, AccountID: setup.Overview.AccountID, Region: setup.Overview.Region,
		AccessKeyID: accessKey(orgID), Secret: "secret", IngestPath: orgID, UpdatedAt: c.clock(), CreatedAt: c.clock(),
	}); err != nil {
		t.Fatal(err)
	}
	c.accounts.Forget(orgID)
}
