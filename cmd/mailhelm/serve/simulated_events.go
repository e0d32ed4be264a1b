package serve

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
	// deliverEvery is the longest delay of a simulated account's event.
	deliverEvery = time.Second
	// deliverBatch is the largest number of events delivered to one organization before the
	// next.
	deliverBatch = 500
)

// simulatedEvents delivers the events of simulated accounts to the same handler that
// receives those of real ones. They are signed, posted and confirmed in the same way,
// but in this process, without a socket.
type simulatedEvents struct {
	outbox      *simulator.Outbox
	connections sending.Connections
	clock       core.Clock
	log         *slog.Logger
	publisher   *notify.Publisher
	// to leads to the handler that receives events. The handler is set before the first
	// delivery.
	to   *inprocess.Transport
	base string // the public API's address
}

// newSimulatedEvents returns the delivery to base, the public address of the API. The
// caller must set the handler of its transport before it calls follow.
func newSimulatedEvents(s *stores, base string, clock core.Clock, log *slog.Logger) (*simulatedEvents, error) {
	e := &simulatedEvents{
		outbox: s.account.Outbox(), connections: s.connections, clock: clock, log: log,
		to: &inprocess.Transport{}, base: base,
	}
	var err error
	e.publisher, err = notify.New(notify.Config{Outbox: e.outbox, Client: &http.Client{Transport: e.to}, Clock: clock})
	if err != nil {
		return nil, fmt.Errorf("events of simulated accounts: %w", err)
	}
	return e, nil
}

// Key returns the publisher's public key. It returns ingest.ErrUntrusted if the
// certificate URL is not the publisher's.
func (e *simulatedEvents) Key(ctx context.Context, certificateURL string) (*rsa.PublicKey, error) {
	key, err := e.publisher.Key(ctx, certificateURL)
	return key, asIngestError(err)
}

// Confirm opens a confirmation link of the publisher. It returns ingest.ErrUntrusted if
// the link is not the publisher's.
func (e *simulatedEvents) Confirm(ctx context.Context, subscribeURL, topic string) error {
	return asIngestError(e.publisher.Confirm(ctx, subscribeURL, topic))
}

// asIngestError replaces an error about a foreign publisher by ingest.ErrUntrusted. It
// returns other errors, and nil, unchanged.
func asIngestError(err error) error {
	if errors.Is(err, notify.ErrNotMine) {
		return ingest.ErrUntrusted
	}
	return err
}

// follow delivers events every second until the returned function is called. That
// function waits for a delivery in progress. Call it once, after the handler is set.
func (e *simulatedEvents) follow() func() {
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

// deliver delivers the due events of every organization. A failure for one organization
// does not delay the others.
func (e *simulatedEvents) deliver(ctx context.Context) {
	orgs, err := e.outbox.Waiting(ctx, e.clock())
	if err != nil {
		e.complain(ctx, "", err)
	}
	for _, org := range orgs {
		if err := e.deliverTo(ctx, org); err != nil {
			e.complain(ctx, org, err)
		}
	}
}

// deliverTo delivers at most deliverBatch due events of one organization. It subscribes
// the organization's topic first if necessary. It does nothing unless the connection is
// simulated and has a topic.
func (e *simulatedEvents) deliverTo(ctx context.Context, orgID string) error {
	c, err := e.connections.Connection(ctx, orgID)
	if core.AsError(err) != nil && core.AsError(err).Code == core.CodeNotFound {
		return nil // without a connection its events wait
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

// complain logs a failed delivery, which the next tick repeats. It logs nothing after
// the end of ctx, because stopping causes such failures. orgID may be "".
func (e *simulatedEvents) complain(ctx context.Context, orgID string, err error) {
	if ctx.Err() == nil {
		e.log.WarnContext(ctx, "events of a simulated account were not delivered", "org_id", orgID, "error", err)
	}
}
