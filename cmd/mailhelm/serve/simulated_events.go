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
	// deliverEvery is how late an event of a simulated account may be.
	deliverEvery = time.Second
	// deliverBatch bounds what one organization is given before it is the next
	// one's turn.
	deliverBatch = 500
)

// simulatedEvents brings what happened to mail of simulated accounts to where the
// events of real ones come in: signed, posted and confirmed like theirs, without a
// socket in between.
type simulatedEvents struct {
	outbox      *simulator.Outbox
	connections sending.Connections
	clock       core.Clock
	log         *slog.Logger
	publisher   *notify.Publisher
	// to is where events come in; its handler is set before the first delivery.
	to   *inprocess.Transport
	base string // the public API's address
}

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

// Key is that of the publisher.
func (e *simulatedEvents) Key(ctx context.Context, certificateURL string) (*rsa.PublicKey, error) {
	key, err := e.publisher.Key(ctx, certificateURL)
	return key, untrusted(err)
}

// Confirm follows a link of the publisher's.
func (e *simulatedEvents) Confirm(ctx context.Context, subscribeURL, topic string) error {
	return untrusted(e.publisher.Confirm(ctx, subscribeURL, topic))
}

func untrusted(err error) error {
	if errors.Is(err, notify.ErrNotMine) {
		return ingest.ErrUntrusted
	}
	return err
}

// follow delivers until what it returns is called, which waits for a delivery under
// way.
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

// deliver gives every organization what is due to it. One that cannot take it
// holds up none of the others.
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

func (e *simulatedEvents) deliverTo(ctx context.Context, orgID string) error {
	c, err := e.connections.Connection(ctx, orgID)
	if core.AsError(err) != nil && core.AsError(err).Code == core.CodeNotFound {
		return nil // nobody said where its events go; they wait
	}
	if err != nil {
		return err
	}
	to := notify.Subscription{TopicARN: c.TopicARN, Endpoint: ingest.Address(e.base, c.IngestPath)}
	if c.Provider != sending.Simulated || c.TopicARN == "" {
		return nil
	}
	if !e.publisher.Confirmed(to) {
		if err := e.publisher.Subscribe(ctx, to); err != nil {
			return err
		}
	}
	_, err = e.publisher.Deliver(ctx, to, orgID, deliverBatch)
	return err
}

func (e *simulatedEvents) complain(ctx context.Context, orgID string, err error) {
	if ctx.Err() == nil {
		e.log.WarnContext(ctx, "events of a simulated account were not delivered", "org_id", orgID, "error", err)
	}
}
