package faults

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// outEvery is the distance between contacts that have opted out of all mail.
const outEvery = 50

// scene is an organization with a list of contacts, whose servers can be killed.
type scene struct {
	life
	recipients int
	// postgres is the database server if the test restarts it, else nil.
	postgres *enginetest.Server
	org, key string
	// db and account are connections to the database and to the file of the sending account.
	// They read beside a running server.
	db, account *sql.DB
	http        *http.Client
}

// newScene creates the organization and its contacts. No server runs afterwards. On PostgreSQL
// it has a database server of its own if the test restarts it.
func newScene(t *testing.T, postgres, restarts bool, recipients int) *scene {
	t.Helper()
	s := &scene{life: life{DataDir: enginetest.Folder(t)}, recipients: recipients, http: &http.Client{Timeout: 30 * time.Second}}
	driver, address := "sqlite", "file:"+filepath.Join(s.DataDir, "mailhelm.db")+"?_pragma=busy_timeout(10000)"
	switch {
	case restarts:
		s.postgres = enginetest.OwnServer(t)
		s.DatabaseURL = s.postgres.URL()
	case postgres:
		s.DatabaseURL = enginetest.PostgresURL(t)
	default:
		enginetest.CopySQLite(t, s.DataDir)
	}
	if postgres {
		driver, address = "postgres", s.DatabaseURL
	}
	s.change(t, s.fill)
	s.db = open(t, driver, address)
	s.account = open(t, "sqlite", "file:"+s.config().AccountFile()+"?_pragma=busy_timeout(10000)")
	s.noteMessages(t)
	return s
}

func open(t *testing.T, driver, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, address)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() }) // it has written nothing that matters
	return db
}

// change changes the organization with the help of a server, which it stops.
func (s *scene) change(t *testing.T, f func(context.Context, *serve.Host) error) {
	t.Helper()
	h, err := serve.Start(t.Context(), s.config())
	must(t, err)
	err = f(t.Context(), h)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	must(t, errors.Join(err, h.Stop(stopping)))
}

// fill fills the database and the sending account.
func (s *scene) fill(ctx context.Context, h *serve.Host) error {
	db := h.DB()
	a := provision.Provisioner{Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: h.Clock()}
	org, err := a.CreateOrg(ctx, core.Org{Name: "Acme", Slug: "acme", Tier: "team"})
	if err != nil {
		return err
	}
	s.org = org.ID
	if _, s.key, err = a.CreateAPIKey(ctx, provision.Grant{OrgID: s.org, Name: "Faults", Environment: core.Live, Scopes: core.AllScopes()}); err != nil {
		return err
	}
	people := make([]sending.Contact, s.recipients)
	for i := range people {
		people[i] = sending.Contact{Email: fmt.Sprintf("person%05d@example.org", i), UnsubscribeAll: i%outEvery == 0}
	}
	connecting := sending.Connecting{
		Connections: h.Connections(), Transactor: db, Clock: h.Clock(), Record: func(context.Context, string, string, map[string]any) error { return nil },
	}
	_, err = connecting.Connect(ctx, sending.NewConnection{OrgID: s.org, Provider: sending.Simulated})
	return errors.Join(err, h.Account().Seed(ctx, s.org, simulator.Setup{
		// A rate of 0 is no limit.
		Account:    &sending.Overview{SendingEnabled: true, Max24HourSend: -1},
		Identities: []sending.Identity{{Identity: "acme.example", Verification: sending.Success}},
		List:       &sending.ContactList{Name: "acme"},
		Contacts:   people,
	}), s.copy(ctx, h))
}

// copy copies the contacts and the identities of the account into the database, and creates a
// list.
func (s *scene) copy(ctx context.Context, h *serve.Host) error {
	if _, err := h.Sync().Run(ctx, s.org); err != nil {
		return err
	}
	return errors.Join(h.Domains().Channels.Sync(ctx, s.org), h.DB().Lists().InsertList(ctx, s.org, lists.List{
		ID: core.NewID(), Key: "all", Name: "All", Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: h.Clock()(), UpdatedAt: h.Clock()(),
	}))
}

// noteMessages lets the account note the recipient of each message that it accepts. It keeps
// only the event of the acceptance, so that the events arrive sooner. Then it puts all contacts
// on the list.
func (s *scene) noteMessages(t *testing.T) {
	t.Helper()
	for _, statement := range []string{
		`CREATE TABLE handed_over (send TEXT, recipient TEXT)`,
		`CREATE INDEX handed_over_sends ON handed_over (send)`,
		`CREATE TRIGGER note_message AFTER INSERT ON outbox WHEN json_extract(new.event, '$.eventType') = 'Send' BEGIN
			INSERT INTO handed_over VALUES (json_extract(new.event, '$.mail.tags.mailhelm_send[0]'), json_extract(new.event, '$.mail.tags.mailhelm_recipient[0]'));
		END`,
		`CREATE TRIGGER drop_event AFTER INSERT ON outbox WHEN json_extract(new.event, '$.eventType') <> 'Send' BEGIN
			DELETE FROM outbox WHERE org_id = new.org_id AND id = new.id;
		END`,
	} {
		_, err := s.account.ExecContext(t.Context(), statement)
		must(t, err)
	}
	_, err := s.db.ExecContext(t.Context(), `INSERT INTO list_members (org_id, list_id, contact_id, added_at)
		SELECT c.org_id, l.id, c.id, 0 FROM contacts AS c JOIN lists AS l ON l.org_id = c.org_id WHERE c.org_id = $1`, s.org)
	must(t, err)
}

// call calls a REST route of a running server and returns the status and the JSON object.
func (s *scene) call(t *testing.T, at *server, method, path, body string) (int, map[string]any) {
	t.Helper()
	got := product.Send(t, s.http, product.Request{Method: method, URL: at.api + path, Bearer: s.key, Body: body})
	var object map[string]any
	if err := json.Unmarshal([]byte(got.Body), &object); err != nil {
		t.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
	}
	return got.Status, object
}

// draft creates a broadcast to all contacts and returns its id.
func (s *scene) draft(t *testing.T, at *server) string {
	t.Helper()
	status, made := s.call(t, at, http.MethodPost, "/v1/broadcasts", `{"name":"News","subject":"News for {{email}}","html":"<p>Dear {{first_name}}</p><p><a href=\"{{unsubscribe_url}}\">Unsubscribe</a></p>",
		"audience_kind":"list","audience_id":"all"}`)
	id, _ := made["id"].(string)
	if status != http.StatusCreated || id == "" {
		t.Fatalf("create: %d %v", status, made)
	}
	return id
}

// begin sends a broadcast to all contacts. It returns its id.
func (s *scene) begin(t *testing.T, at *server) string {
	t.Helper()
	id := s.draft(t, at)
	if status, answer := s.call(t, at, http.MethodPost, "/v1/broadcasts/"+id+"/send", `{"acknowledge_no_topic":true}`); status != http.StatusAccepted {
		t.Fatalf("send: %d %v", status, answer)
	}
	return id
}

// one returns the number that a query selects.
func one(t *testing.T, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	must(t, db.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}
