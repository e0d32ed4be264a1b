// Package simulatedevents delivers the events of simulated sending accounts to the handler
// that receives the events of real accounts.
package simulatedevents

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/inprocess"
	"github.com/mailhelm/mailhelm/core/sending/simulator/notify"
	"github.com/mailhelm/mailhelm/rest/ingest"
)

const (
	// deliverEvery is the interval at which due events of simulated accounts are delivered.
	deliverEvery = time.Second
	// deliverBatch is the maximum number of events delivered to one organization in each
	// interval, so that other organizations need not wait long.
	deliverBatch = 500
)

// Events delivers the events of simulated accounts to the handler that receives
// those of real accounts. It signs and posts them like Amazon SNS, but calls the handler in
// this process, without a network connection.
type Events struct {
	outbox      *simulator.Outbox
	connections sending.Connections
	clock       core.Clock
	log         *slog.Logger
	publisher   *notify.Publisher
	// to passes requests to the handler that receives events.
	to   *inprocess.Transport
	base string // the public API's address
}

// Config is what the deliveries need.
type Config struct {
	Outbox      *simulator.Outbox
	Connections sending.Connections
	Base        string // the public address of the API, as "https://api.example.com"
	Clock       core.Clock
	Log         *slog.Logger
}

// New returns the deliveries of the events in cfg.Outbox. The caller must call e.ServeBy
// before it calls e.Follow, where e is the result.
func New(cfg Config) (*Events, error) {
	e := &Events{outbox: cfg.Outbox, connections: cfg.Connections, clock: cfg.Clock, log: cfg.Log, to: &inprocess.Transport{}, base: cfg.Base}
	var err error
	e.publisher, err = notify.New(notify.Config{Outbox: e.outbox, Client: &http.Client{Transport: e.to}, Clock: e.clock})
	if err != nil {
		return nil, fmt.Errorf("events of simulated accounts: %w", err)
	}
	return e, nil
}

// ServeBy sets the handler that receives the events.
func (e *Events) ServeBy(handler http.Handler) { e.to.Handler = handler }

// Key returns the public key that verifies the signatures of simulated events. It fails
// with ingest.ErrUntrusted unless certificateURL is the certificate URL of simulated
// events.
func (e *Events) Key(ctx context.Context, certificateURL string) (*rsa.PublicKey, error) {
	key, err := e.publisher.Key(ctx, certificateURL)
	return key, asIngestError(err)
}

// Confirm confirms the subscription to a simulated account's SNS topic. subscribeURL is the
// link that the topic sent. It fails with ingest.ErrUntrusted for the link of another
// sender.
func (e *Events) Confirm(ctx context.Context, subscribeURL, topic string) error {
	return asIngestError(e.publisher.Confirm(ctx, subscribeURL, topic))
}

// asIngestError replaces notify.ErrNotMine, the error for a foreign certificate or link, by
// ingest.ErrUntrusted. It returns other errors, and nil, unchanged.
func asIngestError(err error) error {
	if errors.Is(err, notify.ErrNotMine) {
		return ingest.ErrUntrusted
	}
	return err
}

// Follow starts to deliver due events every second. The returned function stops the
// deliveries and waits for one that is in progress. Call Follow once, after
// ServeBy.
func (e *Events) Follow() func() {
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(deliverEvery)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				e.deliver(ctx)
			}
		}
	})
	return func() {
		ticker.Stop()
		cancel()
		running.Wait()
	}
}

// deliver delivers the due events of every organization. If the delivery to one
// organization fails, it logs the error and continues with the next.
func (e *Events) deliver(ctx context.Context) {
	orgs, err := e.outbox.WaitingOrgs(ctx, e.clock())
	if err != nil {
		e.complain(ctx, "", err)
	}
	for _, org := range orgs {
		if err := e.deliverTo(ctx, org); err != nil {
			e.complain(ctx, org, err)
		}
	}
}

// deliverTo delivers at most deliverBatch due events of one organization. It first confirms
// the subscription to the account's SNS topic if necessary. It does nothing unless the
// organization has connected a simulated account with an SNS topic.
func (e *Events) deliverTo(ctx context.Context, orgID string) error {
	c, err := e.connections.Connection(ctx, orgID)
	if core.AsError(err) != nil && core.AsError(err).Code == core.CodeNotFound {
		return nil // the organization's events wait until it connects an account
	}
	if err != nil {
		return err
	}
	to := notify.Subscription{TopicARN: c.TopicARN, Endpoint: ingest.Address(e.base, c.IngestPath)}
	if c.Provider != sending.Simulated || c.TopicARN == "" {
		return nil
	}
	if !e.publisher.IsConfirmed(to) {
		if err := e.publisher.Subscribe(ctx, to); err != nil {
			return err
		}
	}
	_, err = e.publisher.Deliver(ctx, to, orgID, deliverBatch)
	return err
}

// complain logs a failed delivery, which is tried again after deliverEvery. After the end
// of ctx it logs nothing, because stopping causes such failures. orgID is "" if the failure
// concerns no single organization.
func (e *Events) complain(ctx context.Context, orgID string, err error) {
	if ctx.Err() == nil {
		e.log.WarnContext(ctx, "events of a simulated account were not delivered", "org_id", orgID, "error", err)
	}
}
