package serve

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/pull"
	inboxstore "github.com/mailhelm/mailhelm/storage/inboxes"
	"github.com/prometheus/client_golang/prometheus"
)

// mailFolder is the folder of received mail in the data folder.
const mailFolder = "mail"

// newFiles returns the storage of received mail in the data folder.
func newFiles(cfg config.Config, public config.Public, master signing.MasterKey) (*files.Files, error) {
	key, err := master.Derive(files.KeyPurpose, files.KeyBytes)
	if err != nil {
		return nil, fmt.Errorf("key of links to received mail: %w", err)
	}
	return files.New(files.Config{Folder: filepath.Join(cfg.DataDir, mailFolder), Key: key, FetchURL: public.Fetch, Clock: cfg.Clock})
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

// newInboxes returns the value that manages temporary inboxes.
func newInboxes(cfg config.Config, s *stores, public config.Public, metrics prometheus.Registerer) *inboxes.Inboxes {
	store := s.db.Inboxes()
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mailhelm_inbox_polls", Help: "Polls that wait for mail in a temporary inbox.",
	}, func() float64 { return float64(s.waiting.Polls()) }))
	return inboxes.New(inboxes.Config{
		Store: store, Messages: store, Tokens: store, Purges: store, Domains: ownDomains{s.db.Channels()}, Accounts: ownAccounts{s.connections},
		Objects: mailObjects{s.objects}, Sealer: s.master, Waiting: s.waiting, Queue: s.queue,
		Domain: cfg.MailDomain(), BaseURL: public.API, FetchURL: public.Fetch, Clock: cfg.Clock, Log: cfg.Log,
	})
}

// followInboxes passes notices of other processes to the polls of this one. The returned
// function stops it.
func followInboxes(s *stores) func() {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { inboxstore.NewNotices(s.db.DB).Follow(ctx, s.waiting) })
	return func() {
		cancel()
		running.Wait()
	}
}

// fetchHost returns the handler of the fetch host.
func fetchHost(cfg config.Config, public config.Public, s *stores, domains catalogue.Domains) (http.Handler, error) {
	trusted, err := cfg.Proxies()
	if err != nil {
		return nil, err
	}
	return pull.New(pull.Config{
		Inboxes: domains.Inboxes, Objects: s.files, ObjectPath: files.LinkPath, Remote: trusted.Remote, DocsURL: public.Docs, Clock: cfg.Clock, Log: cfg.Log,
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

// Delete deletes objects.
func (m mailObjects) Delete(ctx context.Context, orgID, storeID string, keys []string) error {
	store, err := m.stores.At(ctx, orgID, storeID)
	if err != nil {
		return err
	}
	return store.Delete(ctx, keys...)
}
