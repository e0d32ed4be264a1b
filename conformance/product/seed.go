package product

import (
	"context"
	"errors"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/servetest"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwords/passwordstest"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// masterKey is the key with which products in tests encrypt secrets. It protects only
// secrets of tests, so it may be public.
const masterKey = "6d61696c68656c6d2074657374206d6173746572206b65792c206f70656e2121"

// seedResult has the demo organization (demo), the second organization (other), and the
// credentials of the demo user.
type seedResult struct {
	demo, other             Org
	userEmail, userPassword string
}

// seed creates the demo data and the second organization, in the database and the simulated
// account that cfg configures. It starts no server.
func seed(ctx context.Context, cfg config.Config) (seedResult, error) {
	db, err := storage.Open(ctx, serve.StorageOf(cfg))
	if err != nil {
		return seedResult{}, err
	}
	defer db.Close() //nolint:errcheck // what matters is committed
	if err := db.Migrate(ctx); err != nil {
		return seedResult{}, err
	}
	account, err := simulator.Open(cfg.AccountFile(), simulator.Options{Clock: cfg.Clock})
	if err != nil {
		return seedResult{}, err
	}
	defer account.Close() //nolint:errcheck // the rows are stored when Ensure returns
	s := demodata.Seeder{DB: db, Scopes: core.AllScopes(), Account: account, Clock: cfg.Clock, Sync: servetest.NewSync(db, account, cfg.Clock, cfg.Log)}
	c, err := s.Ensure(ctx, cfg.DataDir)
	if err != nil {
		return seedResult{}, err
	}
	if err := cheapSignIn(ctx, db, c); err != nil {
		return seedResult{}, err
	}
	other, err := secondOrg(ctx, s)
	return seedResult{
		demo: Org{
			OrgID: c.OrgID, Contact: demodata.FirstEmail,
			Live: Credentials{c.ClientID, c.ClientSecret, c.APIKey},
			Test: Credentials{c.TestClientID, c.TestClientSecret, c.TestAPIKey},
		},
		other: other, userEmail: c.UserEmail, userPassword: c.UserPassword,
	}, err
}

// cheapSignIn replaces the demo user's password hash by a hash of the same password that is
// quick to check. Many tests sign in, and a usual hash would slow them down.
func cheapSignIn(ctx context.Context, db *storage.DB, c demodata.Credentials) error {
	user, err := db.Users().UserByEmail(ctx, c.UserEmail)
	if err != nil {
		return err
	}
	return db.Users().SetPassword(ctx, user.ID, passwordstest.Hash(c.UserPassword))
}

// MakePast creates 90 days of sent mail for the demo organization, as `mailhelm demo` does.
// It does nothing if the organization has messages.
func (p *Product) MakePast(t testing.TB) {
	t.Helper()
	h := p.host
	err := demodata.Past{
		DB: h.DB(), Account: h.Account(), Connections: h.Connections(), Forget: h.Forget, Domains: h.Domains(), Webhooks: h.Webhooks(), Clock: h.Clock(),
	}.Ensure(t.Context(), p.OrgID)
	if err != nil {
		t.Fatalf("product: %v", err)
	}
	if p.database == "" {
		return // SQLite needs no statistics
	}
	// See fillPostgres: the tables of messages had no rows when it collected statistics.
	if _, err := p.SQL(t).ExecContext(t.Context(), "ANALYZE"); err != nil {
		t.Fatalf("product: %v", err)
	}
}

// otherContact is the only contact of the second organization.
const otherContact = "someone.else@example.org"

// secondOrg creates an organization with a sending account, a contact list and one contact
// with the address otherContact. The demo organization has no contact with otherContact.
func secondOrg(ctx context.Context, s demodata.Seeder) (Org, error) {
	a := provision.Provisioner{Stores: s.DB.Access(), Orgs: s.DB.Orgs(), Users: s.DB.Users(), Members: s.DB.Members(), Tx: s.DB, Clock: s.Clock}
	stored, err := a.CreateOrg(ctx, core.Org{Name: "Other Org", Slug: "other-org", Tier: "team"})
	if err != nil {
		return Org{}, err
	}
	org := Org{OrgID: stored.ID, Contact: otherContact}
	var liveErr, testErr error
	org.Live, liveErr = credentials(ctx, a, org.OrgID, core.Live)
	org.Test, testErr = credentials(ctx, a, org.OrgID, core.Test)
	if err := errors.Join(liveErr, testErr); err != nil {
		return Org{}, err
	}
	err = s.Account.Seed(ctx, org.OrgID, simulator.Setup{
		List:     &sending.ContactList{Name: "other", Topics: []sending.Topic{{Name: "other-news", DisplayName: "Other news", Default: sending.OptIn}}},
		Contacts: []sending.Contact{{Email: org.Contact}},
	})
	if err != nil {
		return Org{}, err
	}
	_, err = s.Sync.Run(ctx, org.OrgID)
	return org, err
}

// credentials creates an OAuth client and an API key of an organization, both with every
// scope and for one environment (live or test).
func credentials(ctx context.Context, a provision.Provisioner, orgID string, env core.Environment) (Credentials, error) {
	g := provision.Grant{OrgID: orgID, Name: "Test suite", Environment: env, Scopes: core.AllScopes()}
	client, secret, err := a.CreateClient(ctx, g)
	if err != nil {
		return Credentials{}, err
	}
	_, key, err := a.CreateAPIKey(ctx, g)
	return Credentials{ClientID: client.ClientID, ClientSecret: secret, APIKey: key}, err
}

// template is a data folder with demo data. Each product that a test starts gets a copy.
// All products of a test process therefore have the same credentials.
type template struct {
	// folder has the files of the data folder. Its first copy sets the next two fields.
	folder *enginetest.FolderTemplate
	seedResult
	// tables has the rows of the folder's SQLite database, for products on PostgreSQL.
	tables []table
	// postgres copies the rows to a new PostgreSQL database for each product.
	postgres *enginetest.Filled
}

// demoTemplate is the template of all products of this process.
var demoTemplate = newTemplate()

func newTemplate() *template {
	t := &template{}
	t.folder, t.postgres = enginetest.NewFolderTemplate(t.seed), enginetest.NewFilled(t.fill)
	return t
}

// seed creates the demo data in the folder dir.
func (t *template) seed(dir string) error {
	ctx := context.Background()
	err := enginetest.WriteSQLite(dir)
	if err != nil {
		return err
	}
	if t.seedResult, err = seed(ctx, config.Config{DataDir: dir, Clock: core.SystemClock, Log: logger(nil)}); err != nil {
		return err
	}
	t.tables, err = readTables(ctx, dir)
	return err
}

// fill writes the rows of the template to an empty PostgreSQL database with the complete
// schema.
func (t *template) fill(ctx context.Context, address string) error {
	return fillPostgres(ctx, address, t.tables)
}
