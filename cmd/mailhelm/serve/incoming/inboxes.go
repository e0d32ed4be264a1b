// Package incoming assembles the parts of a server that receive mail, and satisfies the
// interfaces that these parts declare.
package incoming

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/pull"
	"github.com/prometheus/client_golang/prometheus"
)

// mailFolder is the folder of received mail in the data folder.
const mailFolder = "mail"

// Parts are the parts of a server that receive mail. Open returns them.
type Parts struct {
	// Files keeps received mail in the data folder. Stores finds the store of an organization.
	Files  *files.Files
	Stores objects.Stores
	// Waiting wakes polls for mail.
	Waiting *inboxes.Waiting
	Inboxes *inboxes.Inboxes

	notices Notices
	cfg     config.Config
	public  config.Public
}

// Store stores inboxes.
type Store interface {
	inboxes.Store
	inboxes.MessageStore
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
	Channels    channels.Store
	Claims      inboxes.Claims
	Master      signing.MasterKey
	Connections sending.Connections
	Queue       jobs.Queue
	Metrics     prometheus.Registerer
}

// Open opens the storage of received mail and returns the parts. Call it once for each server,
// because it registers metrics.
func Open(n Needs) (*Parts, error) {
	key, err := n.Master.Derive(files.KeyPurpose, files.KeyBytes)
	if err != nil {
		return nil, fmt.Errorf("key of links to received mail: %w", err)
	}
	p := &Parts{notices: n.Notices, cfg: n.Config, public: n.Public, Waiting: inboxes.NewWaiting(n.Notices, n.Config.Log)}
	if p.Files, err = files.New(files.Config{Folder: filepath.Join(n.Config.DataDir, mailFolder), Key: key, FetchURL: n.Public.Fetch, Clock: n.Config.Clock}); err != nil {
		return nil, err
	}
	p.Stores = mailStores{p.Files}
	n.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mailhelm_inbox_polls", Help: "Polls that wait for mail in a temporary inbox.",
	}, func() float64 { return float64(p.Waiting.Polls()) }))
	p.Inboxes = inboxes.New(inboxes.Config{
		Store: n.Store, Messages: n.Store, Tokens: n.Store, Purges: n.Store, Claims: n.Claims, Domains: ownDomains{n.Channels}, Accounts: ownAccounts{n.Connections},
		Objects: mailObjects{p.Stores}, Sealer: n.Master, Waiting: p.Waiting, Queue: n.Queue,
		Domain: n.Config.MailDomain(), BaseURL: n.Public.API, FetchURL: n.Public.Fetch, Clock: n.Config.Clock, Log: n.Config.Log,
	})
	return p, nil
}

// Follow passes notices of other processes to the polls of this one. The returned function
// stops it.
func (p *Parts) Follow() func() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.notices.Follow(ctx, p.Waiting) })
	return func() {
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
		Inboxes: p.Inboxes, Objects: p.Files, ObjectPath: files.LinkPath, Remote: trusted.Remote, DocsURL: p.public.Docs, Clock: p.cfg.Clock, Log: p.cfg.Log,
	}), nil
}

// mailStores has one store for all organizations. It is an [objects.Stores].
type mailStores struct{ files *files.Files }

// Of returns the store of an organization.
func (m mailStores) Of(_ context.Context, orgID string) (objects.Store, error) {
	return m.files.Of(orgID), nil
}

// At returns the store with an id. It fails with core.CodeNotFound for an unknown id.
func (m mailStores) At(_ context.Context, orgID, storeID string) (objects.Store, error) {
	if storeID != objects.FilesID && storeID != "" {
		return nil, core.NotFound("object store")
	}
	return m.files.Of(orgID), nil
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

// Delete deletes objects.
func (m mailObjects) Delete(ctx context.Context, orgID, storeID string, keys []string) error {
	store, err := m.stores.At(ctx, orgID, storeID)
	if err != nil {
		return err
	}
	return store.Delete(ctx, keys...)
}
