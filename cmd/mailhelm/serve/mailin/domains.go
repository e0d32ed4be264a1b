// Package mailin assembles what a server needs for receiving domains: their operations, the
// publisher, the router, the destination of their mail, and the courier.
package mailin

import (
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/standardhooks/post"
)

// Stores are what the parts use. All fields are required.
type Stores struct {
	Domains    receiving.Store
	Log        receiving.LogStore
	Ending     receiving.Ending
	Routes     receiving.RoutingStore
	Deliveries receiving.DeliveryStore
	Queue      receiving.Queue
	Identities Identities
	Objects    objects.Stores
	Transactor core.Transactor
	Audit      access.AuditAppender
	Sealer     receiving.Sealer
	DNS        channels.DNS
}

// Identities has the sending identities and the region of an organization.
type Identities interface {
	receiving.Identities
	LastSync(ctx context.Context, orgID string) (channels.Sync, error)
}

// Domains has the parts. Router finds routes for receivers, and Destination takes the mail.
type Domains struct {
	// disconnect closes the connections to webhook endpoints that are not in use.
	disconnect  func()
	Operations  *receiving.Receiving
	Publisher   *receiving.Publisher
	Router      *receiving.Router
	Destination *receiving.Destination
	Courier     *receiving.Courier
	Desk        receiving.Desk
	store       receiving.Store
}

// IsRecorded reports whether the organization has recorded a receiving domain, verified or not.
func (d *Domains) IsRecorded(ctx context.Context, orgID, domain string) (bool, error) {
	_, err := d.store.Domain(ctx, orgID, domain)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// New returns the parts, which do nothing yet. cfg must have passed [config.Config.Check].
func New(cfg config.Config, s Stores) *Domains {
	networks, err := cfg.HookNetworks()
	if err != nil { // Check refuses such a configuration
		cfg.Log.Error("private networks of webhook endpoints are not allowed", "error", err)
	}
	private := len(networks) > 0
	sender := post.New(post.Config{Allowed: networks, Roots: cfg.WebhookCAs, Resolver: cfg.WebhookResolver, Timeout: cfg.WebhookTimeout})
	hosts := post.New(post.Config{Allowed: networks, Resolver: cfg.WebhookNames})
	d := &Domains{
		disconnect: sender.Close,
		store:      s.Domains,
		Publisher:  receiving.NewPublisher(receiving.PublisherConfig{Store: s.Routes, Hosts: hosts, Networks: private, Clock: cfg.Clock, Log: cfg.Log}),
		Router:     receiving.NewRouter(s.Routes, cfg.Clock, cfg.Log),
		Courier: receiving.NewCourier(receiving.CourierConfig{
			Queue: s.Queue, Store: s.Deliveries, Objects: s.Objects, Sealer: s.Sealer, Sender: sender, Clock: cfg.Clock, Log: cfg.Log,
		}),
	}
	d.Destination = receiving.NewDestination(s.Deliveries, cfg.Clock, d.Courier.Wake)
	d.Desk = receiving.Desk{Domains: s.Domains, Store: s.Deliveries, Transactor: s.Transactor, Audit: s.Audit, Clock: cfg.Clock, Wake: d.Courier.Wake}
	d.Operations = receiving.New(receiving.Config{
		Store: s.Domains, Log: s.Log, Ending: s.Ending, Identities: s.Identities, Region: regionFrom(s.Identities),
		Receivers: receiving.Receivers{MailHost: cfg.MailHost, Regions: cfg.ReceiveSESRegions}, DNS: s.DNS, Hosts: hosts, Sealer: s.Sealer,
		Reserved: []string{cfg.MailDomain()}, Clock: cfg.Clock, Logger: cfg.Log, Networks: private, Wake: d.Publisher.Wake,
	})
	return d
}

// regionFrom returns a function that returns the region from which an organization sends.
func regionFrom(s Identities) func(context.Context, string) (string, error) {
	return func(ctx context.Context, orgID string) (string, error) {
		last, err := s.LastSync(ctx, orgID)
		if core.IsNotFound(err) {
			return "", nil
		}
		return last.Region, err
	}
}

// Follow starts what the role of the process needs: the router of a process that receives mail,
// and the publisher and the courier of one that runs jobs. The returned function stops them and
// waits for the end of attempts in flight, which it interrupts, and closes the connections to the
// endpoints.
func (d *Domains) Follow(role config.Role) func() {
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(receiving.RefreshEvery)
	var running sync.WaitGroup
	if role != config.Worker {
		running.Go(func() { d.Router.Follow(ctx, ticker.C) })
	}
	if role != config.API {
		running.Go(func() { d.Publisher.Run(ctx) })
		running.Go(func() { d.Courier.Run(ctx) })
	}
	return func() {
		ticker.Stop()
		cancel()
		running.Wait()
		d.disconnect()
	}
}
