package operations

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/sealed"
)

// TestServersAnswerWhileTheMasterKeyRotates rotates the master key under a running server. It
// must go on to read stored secrets, a server with the new key must start beside it, and a link to
// unsubscribe from before must work at both. After the end of the rotation a server with the
// former key must not start.
func TestServersAnswerWhileTheMasterKeyRotates(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func() string{
		"sqlite": func() string { return "" }, "postgres": func() string { return enginetest.PostgresURL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Config{DataDir: enginetest.Folder(t), DatabaseURL: database(), Listen: configtest.AnyPorts(), MaxConns: 8, DNSServers: []string{"none"}, Clock: core.SystemClock}
			old, err := serve.Start(t.Context(), cfg)
			must(t, err)
			running := true
			stop := func(h *serve.Host) {
				ending, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
				defer cancel()
				must(t, h.Stop(ending))
			}
			defer func() {
				if running {
					stop(old)
				}
			}()
			org := withSecret(t, old)
			link := linkOf(t, cfg, org)
			next := rotateUnder(t, old, cfg)
			checkSecret(t, old, org)
			checkLink(t, old, link)
			if cfg.DatabaseURL == "" { // SQLite is for one process
				stop(old)
				running = false
			}
			renewed := cfg
			renewed.MasterKeyPath = next
			fresh, err := serve.Start(t.Context(), renewed)
			must(t, err)
			defer stop(fresh)
			checkSecret(t, fresh, org)
			checkLink(t, fresh, link)
			db := fresh.DB()
			must(t, signing.Succession{Store: db.MasterKeys(), Transactor: db, Clock: time.Now}.Finish(t.Context()))
			checkSecret(t, fresh, org)
			if cfg.DatabaseURL == "" {
				return
			}
			if h, err := serve.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "not that of this database") {
				if err == nil {
					stop(h)
				}
				t.Errorf("a server with the former key: %v", err)
			}
		})
	}
}

// withSecret creates an organization with an account that has a secret.
func withSecret(t *testing.T, h *serve.Host) (orgID string) {
	t.Helper()
	db := h.DB()
	p := provision.Provisioner{Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: h.Clock()}
	org, err := p.CreateOrg(t.Context(), core.Org{Name: "Acme", Slug: "acme", Tier: "team"})
	must(t, err)
	must(t, h.Connections().SaveConnection(t.Context(), sending.Connection{
		OrgID: org.ID, Provider: sending.SMTP, Secret: "password of the account", CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}))
	return org.ID
}

func checkSecret(t *testing.T, h *serve.Host, orgID string) {
	t.Helper()
	if c, err := h.Connections().Connection(t.Context(), orgID); err != nil || c.Secret != "password of the account" {
		t.Errorf("the secret of the account: %v", err)
	}
}

// linkOf returns the path of a link to unsubscribe, as mail of a server has it.
func linkOf(t *testing.T, cfg config.Config, orgID string) string {
	t.Helper()
	key, err := cfg.ReadMasterKey()
	must(t, err)
	secret, err := key.Derive(unsubscribe.KeyPurpose, unsubscribe.KeyBytes)
	must(t, err)
	links, err := unsubscribe.NewLinks(secret, "")
	must(t, err)
	link, err := links.For(orgID, unsubscribe.Recipient{})
	must(t, err)
	return link.Unsubscribe
}

// checkLink opens a link to unsubscribe. A link with another signature answers 404.
func checkLink(t *testing.T, h *serve.Host, path string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.Addresses().App+path, nil)
	must(t, err)
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Do(r)
	must(t, err)
	text, err := drain(answer)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the link: status %d, %v, %.300s", answer.StatusCode, err, text)
	}
}

// rotateUnder rotates the master key as the command does, and returns the file with the new one.
func rotateUnder(t *testing.T, h *serve.Host, cfg config.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "new.key")
	next, err := signing.LoadMasterKey(file)
	must(t, err)
	key, err := cfg.ReadMasterKey()
	must(t, err)
	db := h.DB()
	must(t, signing.Succession{Store: db.MasterKeys(), Transactor: db, Clock: time.Now}.Begin(t.Context(), key, next))
	counts, err := sealed.Reseal(t.Context(), db.DB, key, func(int64) {})
	must(t, err)
	resealed := int64(0)
	for _, c := range counts {
		resealed += c.Resealed
	}
	if resealed < 2 { // a signing key and the account
		t.Errorf("%d values sealed anew", resealed)
	}
	return file
}
