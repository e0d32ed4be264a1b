package server_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/accounts"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// TestAccountThatAnotherProcessConnected connects an account as `mailhelm admin` does, a moment after the
// server has read that none is connected. The server must copy the domains of the new account.
func TestAccountThatAnotherProcessConnected(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	p.Clock.Freeze(p.Clock.Now()) // what the server has read stays fresh
	p.AwaitJob(t, "channel_sync")
	contact := product.Request{URL: p.BaseURL + "/v1/contacts/" + p.Contact, Bearer: p.Live.APIKey}
	if answer := p.Send(t, contact); answer.Status != http.StatusOK {
		t.Fatalf("a contact, with its consent: %d %s", answer.Status, answer.Body)
	}
	queue, err := p.DB.NewJobs(engine.JobsConfig{})
	if err != nil {
		t.Fatal(err)
	}
	p.Connect(t, sending.NewConnection{
		OrgID: p.OrgID, Provider: sending.SMTP, Endpoint: "127.0.0.1:2525", Identities: []string{"elsewhere.example"}, MayReachPrivate: true,
	}, accounts.SyncAccount(queue))
	product.Await(t, 20*time.Second, func() error {
		var found int
		if err := p.SQL(t).QueryRowContext(t.Context(), "SELECT count(*) FROM identities WHERE identity = 'elsewhere.example'").Scan(&found); err != nil || found == 1 {
			return err
		}
		return errors.New("the domain is not copied")
	})
}
