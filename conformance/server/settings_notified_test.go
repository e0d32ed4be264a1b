package server_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/webhooks"
)

// notifyWait is how long a test waits for a notification of PostgreSQL.
const notifyWait = 20 * time.Second

// TestWebhookEndpointOfAnotherServer creates a webhook endpoint at a server, a moment after a worker has read
// that there is none. Events that the worker stores afterwards must have deliveries. The clock is frozen, so
// what the worker has read does not expire.
func TestWebhookEndpointOfAnotherServer(t *testing.T) {
	t.Parallel()
	server := product.Start(t, product.Options{Postgres: true})
	worker := product.Start(t, product.Options{Beside: server, Role: config.Worker})
	server.Clock.Freeze(server.Clock.Now())
	observe := func() error {
		return worker.DB.InTx(t.Context(), func(ctx context.Context) error {
			return worker.Webhooks.Observer.ObserveUnsubscribe(ctx, server.OrgID, webhooks.Unsubscribe{ID: core.NewID(), At: worker.Clock.Now(), Recipient: "ada@example.com"})
		})
	}
	if err := observe(); err != nil {
		t.Fatal(err)
	}
	id := core.NewID()
	if _, _, err := server.Webhooks.Create(t.Context(), access.ActorOf(access.Operator), server.OrgID, id, webhooks.Settings{
		URL: "https://hooks.example.com/mailhelm", Types: []webhooks.EventType{webhooks.Unsubscribed}, Enabled: true,
	}); err != nil {
		t.Fatal(err)
	}
	product.Await(t, notifyWait, func() error {
		if err := observe(); err != nil {
			return err
		}
		found, err := server.DB.Webhooks().Deliveries(t.Context(), server.OrgID, id, webhooks.Filter{Limit: 1})
		if err == nil && len(found) == 0 {
			err = errors.New("an event has no delivery")
		}
		return err
	})
}

// TestAccountOfAnotherServer connects a sending account at a server, a moment after another server has read
// that none is connected. The other one must use it.
func TestAccountOfAnotherServer(t *testing.T) {
	t.Parallel()
	one := product.Start(t, product.Options{Postgres: true})
	two := product.Start(t, product.Options{Beside: one, Role: config.API})
	one.Clock.Freeze(one.Clock.Now())
	account := func() error {
		answer := two.Send(t, product.Request{URL: two.BaseURL + "/v1/account", Bearer: one.Live.APIKey})
		if answer.Status != http.StatusOK || !strings.Contains(answer.Body, `"max_24_hour":4321`) {
			return fmt.Errorf("the account at the second server: %d %s", answer.Status, answer.Body)
		}
		return nil
	}
	if err := account(); err == nil {
		t.Fatal("the second server has the account before it is connected")
	}
	one.Connect(t, sending.NewConnection{
		OrgID: one.OrgID, Provider: sending.SMTP, Endpoint: "127.0.0.1:2525", Identities: []string{"elsewhere.example"}, Max24HourSend: 4321, MayReachPrivate: true,
	}, nil)
	product.Await(t, notifyWait, account)
}
