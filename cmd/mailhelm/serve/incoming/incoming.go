// Package incoming assembles the parts of a server that receive mail, and satisfies the
// interfaces that these parts declare.
package incoming

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/dmarc"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/mailin"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/ses"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/pull"
	"github.com/prometheus/client_golang/prometheus"
)

// Parts are the parts of a server that receive mail. Open returns them.
type Parts struct {
	// Stores finds the places of received mail.
	Stores objects.Stores
	// Settings changes where the mail of an organization is kept. It has no function Record,
	// which the pages add.
	Settings objects.Settings
	// Waiting wakes polls for mail.
	Waiting *inboxes.Waiting
	Inboxes *inboxes.Inboxes
	// FromSES takes notifications of mail that Amazon SES received. Receive sets it.
	FromSES *ses.Receiver

	stored    *mailstores.Received
	router    inbound.Routers
	spool     *spool.Spooler
	processor *processing.Processor
	// announcer is nil in a process that processes messages itself.
	announcer *announcer
	accepted  Accepted
	notices   Notices
	cfg       config.Config
	public    config.Public
}

// Forget makes the process read again where the mail of an organization is kept. Call it after that has changed.
func (p *Parts) Forget(orgID string) { p.stored.Locator.Forget(orgID) }

// ForgetAll is Forget for all organizations.
func (p *Parts) ForgetAll() { p.stored.Locator.ForgetAll() }

// Store stores inboxes.
type Store interface {
	inboxes.Store
	inboxes.MessageStore
	inboxes.DeliveryStore
	inboxes.TokenStore
	inboxes.PurgeStore
}

// Notices passes notices about inboxes between the processes on a database.
type Notices interface {
	inboxes.Announcer
	// Follow wakes polls for each notice until ctx ends.
	Follow(ctx context.Context, w *inboxes.Waiting)
}

// Needs are what the parts need of the rest of the server. All fields are required.
type Needs struct {
	Config      config.Config
	Public      config.Public
	Store       Store
	Notices     Notices
	Accepted    Accepted
	Received    inbound.Queue
	Buckets     objects.BucketStore
	Transactor  core.Transactor
	Channels    channels.Store
	Claims      inboxes.Claims
	Master      signing.MasterKey
	Connections sending.Connections
	Queue       jobs.Queue
	Metrics     prometheus.Registerer
}

// Open opens the storage of received mail and returns the parts. Call it once for each server,
// because it registers metrics. The caller closes the parts.
func Open(n Needs) (*Parts, error) {
	p := &Parts{notices: n.Notices, accepted: n.Accepted, cfg: n.Config, public: n.Public, Waiting: inboxes.NewWaiting(n.Notices, n.Config.Log)}
	var err error
	if p.stored, err = mailstores.Open(n.Config, n.Buckets, n.Transactor, n.Master, n.Public.Fetch); err != nil {
		return nil, err
	}
	p.Stores, p.Settings = p.stored.Locator, p.stored.Settings
	n.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mailhelm_inbox_polls", Help: "Polls that wait for mail in a temporary inbox.",
	}, func() float64 { return float64(p.Waiting.Polls()) }))
	p.Inboxes = inboxes.New(inboxes.Config{
		Store: n.Store, Messages: n.Store, Deliveries: n.Store, Tokens: n.Store, Purges: n.Store, Claims: n.Claims, Domains: ownDomains{n.Channels}, Accounts: ownAccounts{n.Connections},
		Objects: mailObjects{p.Stores}, Sealer: n.Master, Waiting: p.Waiting, Queue: n.Queue,
		Domain: n.Config.MailDomain(), BaseURL: n.Public.API, FetchURL: n.Public.Fetch, Clock: n.Config.Clock, Log: n.Config.Log,
	})
	return p, nil
}

// Receive makes what accepts and processes messages, after what receives the mail of domains and
// DMARC reports is there. Call it once, before the other methods and the use of FromSES.
func (p *Parts) Receive(n Needs, domains *mailin.Domains, reports *dmarc.Reports) error {
	p.router = inbound.Routers{reports.Router, inboxes.NewRouter(n.Store, n.Config.MailDomain(), n.Config.Clock), domains.Router}
	if err := p.openProcessing(n, domains.Destination, reports.Destination); err != nil {
		return err
	}
	p.FromSES = ses.New(ses.Config{Router: p.router, Domains: domains, Intake: p.spool, Buckets: p.stored.Deposits, Clock: n.Config.Clock, Log: n.Config.Log})
	return nil
}

// Close closes connections to buckets.
func (p *Parts) Close() { p.stored.Close() }

// Receiver returns the SMTP server for incoming mail; see [NewReceiver].
func (p *Parts) Receiver(metrics prometheus.Registerer) (*smtpd.Server, error) {
	return NewReceiver(p.cfg, p.public, p.router, p.spool, metrics)
}

// Follow starts what the role of the process needs: notices of other processes to the polls of
// this one unless it is a worker, and the processing of received mail unless it only answers
// calls; then it announces the mail to the others. The returned function stops it.
func (p *Parts) Follow() func() {
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(processing.LookEvery)
	var running sync.WaitGroup
	running.Go(func() { p.stored.Follow(ctx, p.cfg.Log) })
	if p.cfg.Role != config.Worker {
		running.Go(func() { p.notices.Follow(ctx, p.Waiting) })
	}
	if p.cfg.Role != config.API {
		running.Go(func() { p.processor.Follow(ctx, ticker.C) })
		running.Go(func() { p.accepted.Follow(ctx, p.processor.Wake) })
	} else {
		running.Go(func() { p.announcer.follow(ctx) })
	}
	return func() {
		ticker.Stop()
		cancel()
		running.Wait()
	}
}

// FetchHost returns the handler of the fetch host.
func (p *Parts) FetchHost() (http.Handler, error) {
	trusted, err := p.cfg.Proxies()
	if err != nil {
		return nil, err
	}
	return pull.New(pull.Config{
		Inboxes: p.Inboxes, Objects: p.stored.Files, ObjectPath: files.LinkPath, Remote: trusted.Remote, DocsURL: p.public.Docs, Clock: p.cfg.Clock, Log: p.cfg.Log,
	}), nil
}

// ownDomains knows the verified domains of organizations; it is an [inboxes.Domains].
type ownDomains struct{ store channels.Store }

// HasDomain reports whether the domain is a verified identity of the organization.
func (d ownDomains) HasDomain(ctx context.Context, orgID, domain string) (bool, error) {
	found, err := d.store.Identity(ctx, orgID, domain)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil && found.Type == channels.DomainIdentity && found.Verification == sending.Success, err
}

// ownAccounts knows which organizations have connected a sending account; it is an
// [inboxes.Accounts].
type ownAccounts struct{ connections sending.Connections }

// demoTier is the tier of the organization of the demo. Its simulated account counts as its
// own, so that the demo shows the limits of a customer.
const demoTier = "demo"

// HasAccount reports whether the organization has connected a sending account of its own.
func (a ownAccounts) HasAccount(ctx context.Context, org core.Org) (bool, error) {
	if org.Tier == demoTier {
		return true, nil
	}
	_, err := a.connections.Connection(ctx, org.ID)
	if core.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// mailObjects is the storage of messages of inboxes; it is an [inboxes.Objects].
type mailObjects struct{ stores objects.Stores }

// Link returns a link to an object that works until a time.
func (m mailObjects) Link(ctx context.Context, orgID, storeID, key, filename, contentType string, until time.Time) (string, error) {
	store, err := m.stores.At(ctx, orgID, storeID)
	if err != nil {
		return "", err
	}
	return store.Link(ctx, key, objects.Link{Until: until, Filename: filename, ContentType: contentType})
}

// Open returns the content of an object.
func (m mailObjects) Open(ctx context.Context, orgID, storeID, key string) (io.ReadCloser, error) {
	store, err := m.stores.At(ctx, orgID, storeID)
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, key)
}

// Delete deletes objects.
func (m mailObjects) Delete(ctx context.Context, orgID, storeID string, keys []string) error {
	store, err := m.stores.At(ctx, orgID, storeID)
	if err != nil {
		return err
	}
	return store.Delete(ctx, keys...)
}
