package developers_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/bearer"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/rest/dashboard/developers"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// office is an organization with an API key, an OAuth client, and two grants to that
// client.
type office struct {
	*frametest.Office
	db     *storage.DB
	tasks  access.Lifecycle
	pages  http.Handler
	key    access.APIKey
	client access.Client
	grants [2]access.Grant // one grant by the visitor, one by another person
}

func newOffice(t *testing.T, db *storage.DB) *office {
	t.Helper()
	o := &office{db: db, Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: developers.KeysPath}, frame.Area{Path: developers.ClientsPath}, frame.Area{Path: developers.GrantsPath})}
	o.tasks = access.Lifecycle{
		Stores: db.Access(), Orgs: db.Orgs(), Transactor: db, Clock: frametest.Now,
		Principals: bearer.NewAuthenticator(bearer.AuthenticatorConfig{Clock: frametest.Now}),
	}
	room, err := developers.New(o.Frame, developers.Config{
		Keys: db.Keys(), Clients: db.Clients(), Public: db.Clients(), Blocked: db.OpenClients(), Grants: db.Grants(), Members: db.Members(), Users: db.Users(), Usage: db.Usage(),
		Lifecycle: o.tasks, APIURL: "https://api.example", MCPURL: "https://mcp.example", AuthURL: "https://auth.example", Clock: frametest.Now,
	})
	o.Must(err)
	o.pages = o.Open(room)
	o.makeCredentials()
	return o
}

func (o *office) makeCredentials() {
	o.T.Helper()
	ctx, op, scopes := o.T.Context(), access.ActorOf(access.Operator), core.NewScopes(string(core.ChannelsView))
	var err error
	o.key, _, err = o.tasks.CreateKey(ctx, op, access.NewKey{OrgID: o.Org.ID, Name: "Key", Environment: core.Live, Scopes: scopes})
	o.Must(err)
	o.client, _, err = o.tasks.CreateClient(ctx, op, access.NewClient{
		OrgID: o.Org.ID, Name: "Client", Environment: core.Live, Scopes: scopes, RedirectURIs: []string{"https://example.com/back"},
	})
	o.Must(err)
	other := access.User{ID: core.NewID(), Email: core.NewID() + "@example.com", CreatedAt: frametest.Now()}
	o.Must(o.db.Users().InsertUser(ctx, other))
	for i, user := range []access.User{o.User, other} {
		o.grants[i] = access.Grant{
			ID: core.NewID(), OrgID: o.Org.ID, UserID: user.ID, ClientID: o.client.ClientID, Resource: access.API, Scopes: scopes, CreatedAt: frametest.Now(),
		}
		o.Must(o.db.Grants().InsertGrant(ctx, o.grants[i]))
	}
}

// makeUsage grants the client access to the agent endpoint and stores calls by the visitor
// and by a client without a person.
func (o *office) makeUsage() {
	o.T.Helper()
	agent := o.grants[0]
	agent.ID, agent.Resource = core.NewID(), access.Agent
	o.Must(o.db.Grants().InsertGrant(o.T.Context(), agent))
	day, last := frametest.Now().UTC().Truncate(24*time.Hour), frametest.Now().Add(-time.Hour)
	o.Must(o.db.Usage().AddUsage(o.T.Context(), []usage.Row{
		{OrgID: o.Org.ID, ClientID: o.client.ClientID, UserID: o.User.ID, Operation: "contacts_lookup", Day: day, Counts: usage.Counts{Calls: 1200, LastAt: last}},
		{OrgID: o.Org.ID, ClientID: o.client.ClientID, UserID: o.User.ID, Operation: "contacts_upsert", Day: day.AddDate(0, 0, -29), Counts: usage.Counts{Calls: 7, Confirmed: 1, Asked: 2, Refused: 3, Failed: 1, LastAt: last.AddDate(0, 0, -29)}},
		{OrgID: o.Org.ID, ClientID: o.client.ClientID, UserID: o.User.ID, Operation: "lists_list", Day: day.AddDate(0, 0, -30), Counts: usage.Counts{Calls: 9, LastAt: last}},
		{OrgID: o.Org.ID, ClientID: "<script>", Operation: "", Day: day, Counts: usage.Counts{Calls: 2, Refused: 2, LastAt: last}},
		{OrgID: core.NewID(), ClientID: "foreign", Operation: "lists_list", Day: day, Counts: usage.Counts{Calls: 5, LastAt: last}},
	}))
}

// TestManyGrants checks the pages of an organization in which other people granted other
// access, and other assistants called more tools, after the visitor granted access to an
// assistant. The visitor's access must be on the
// page of grants, on the page of assistants and on the page of the assistant.
func TestManyGrants(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	o.makeUsage()
	own := o.grants[0].ID
	var busier []usage.Row
	for i := range 1001 {
		busier = append(busier, usage.Row{
			OrgID: o.Org.ID, ClientID: "busier", UserID: "other", Operation: fmt.Sprintf("tool_%04d", i), Day: frametest.Now().UTC().Truncate(24 * time.Hour),
			Counts: usage.Counts{Calls: 5000, LastAt: frametest.Now()},
		})
	}
	o.Must(o.db.Usage().AddUsage(t.Context(), busier))
	o.Must(o.db.InTx(t.Context(), func(ctx context.Context) error {
		for range 201 {
			later := o.grants[1]
			later.ID, later.CreatedAt = core.NewID(), later.CreatedAt.Add(time.Minute)
			if err := o.db.Grants().InsertGrant(ctx, later); err != nil {
				return err
			}
		}
		return nil
	}))
	for path, want := range map[string][]string{
		developers.GrantsPath:  {"Your grants", developers.GrantsPath + "/" + own + "/revoke", "Only the newest are shown"},
		developers.ConnectPath: {`<td class="n" data-name="Calls in 30 days">1,207</td>`},
		developers.ActivityPath + "?client_id=" + o.client.ClientID: {"<h2>Access</h2>", "Revoke this access"},
	} {
		_, page := frametest.Get(t, o.pages, path)
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s has no %s", path, text)
			}
		}
	}
}

// state returns everything that the forms about credentials can change, and the audit log,
// so that a test can compare it.
func (o *office) state() []any {
	o.T.Helper()
	ctx := o.T.Context()
	keys, err := o.db.Keys().APIKeysOf(ctx, o.Org.ID)
	o.Must(err)
	clients, err := o.db.Clients().ClientsOf(ctx, o.Org.ID)
	o.Must(err)
	grants, err := o.db.Grants().Grants(ctx, o.Org.ID, access.GrantFilter{Limit: 100})
	o.Must(err)
	blocked, err := o.db.OpenClients().BlockedClients(ctx, o.Org.ID)
	o.Must(err)
	lines, err := o.db.Audit().FindAudit(ctx, o.Org.ID, access.AuditFilter{Limit: 100})
	o.Must(err)
	return []any{keys, clients, grants, blocked, lines}
}

// newClient returns valid values of the form for a new client.
func newClient() url.Values {
	return url.Values{
		"once": {core.NewID()}, "name": {"Other"}, "environment": {"live"}, "redirect_uris": {"https://example.com/back"},
		"refresh_days": {"90"}, "scope": {string(core.ChannelsView)},
	}
}

// TestRepeatedFormOfAPublicClient checks the refusal of a form for a new client that is sent
// twice. It must mention a secret only if the client has one.
func TestRepeatedFormOfAPublicClient(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	for kind, hasSecret := range map[string]bool{"public": false, "confidential": true} {
		form := newClient()
		form.Set("kind", kind)
		var status int
		var page string
		for range 2 {
			status, page = frametest.Post(t, o.pages, o.Site.Visitor, developers.ClientsPath+"/new", form)
		}
		if status != http.StatusConflict || !strings.Contains(page, developers.ClientsPath) || strings.Contains(page, "secret") != hasSecret {
			t.Errorf("a %s client: %d %s", kind, status, page)
		}
	}
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t, storagetest.SQLite(t))
	o.Must(o.db.OpenClients().BlockClient(t.Context(), o.Org.ID, "https://app.example.com/client.json", frametest.Now()))
	key, client := developers.KeysPath+"/"+o.key.ID, developers.ClientsPath+"/"+o.client.ID
	shown := func(name, path string) {
		t.Helper()
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	posted := func(name, path string, form url.Values) {
		t.Helper()
		_, page := frametest.Post(t, o.pages, o.Site.Visitor, path, form)
		frametest.CompareGolden(t, name, page, *update)
	}
	o.makeUsage()
	for name, path := range map[string]string{
		"connect": developers.ConnectPath, "connect_activity": developers.ConnectPath + "/activity",
		"keys": developers.KeysPath, "key_new": developers.NewKeyPath, "key_new_read": developers.NewKeyPath + "?role=viewer", "key": key,
		"key_scopes": key + "/scopes", "key_rotate": key + "/rotate", "key_revoke": key + "/revoke",
		"clients": developers.ClientsPath, "client_new": developers.ClientsPath + "/new", "client": client,
		"client_edit": client + "/edit", "client_rotate": client + "/secret", "client_revoke": client + "/revoke", "grants": developers.GrantsPath,
	} {
		shown(name, path)
	}
	posted("key_refused", developers.NewKeyPath, url.Values{"once": {core.NewID()}, "name": {""}, "environment": {"live"}, "scope": {"api.lists.view"}})
	posted("key_incomplete", developers.NewKeyPath, nil)
	posted("key_secret", developers.NewKeyPath, url.Values{"once": {core.NewID()}, "name": {"Other"}, "environment": {"live"}, "scope": {"api.lists.view"}})
	posted("key_review", key+"/scopes", url.Values{"scope": {"api.lists.view"}})
	posted("key_rotated", key+"/rotate", nil)
	refused, public := newClient(), newClient()
	refused.Set("redirect_uris", "ftp://x")
	public.Set("kind", "public")
	posted("client_refused", developers.ClientsPath+"/new", refused)
	posted("client_public", developers.ClientsPath+"/new", public)
	posted("client_secret", client+"/secret", nil)
	posted("block_refused", developers.ClientsPath+"/block", url.Values{"client_id": {"nothing"}})
	o.Allow(members.MayViewLists)
	shown("connect_of_member", developers.ConnectPath)
	for _, query := range []string{"days=8", "days=90", "page=0", "page=x", "page=1001"} { // the plan keeps 30 days
		if status, _ := frametest.Get(t, o.pages, developers.ActivityPath+"?"+query); status != http.StatusNotFound {
			t.Errorf("activity with %s: %d", query, status)
		}
	}
	shown("connect_activity_page", developers.ActivityPath+"?days=7&page=2")
	shown("connect_activity_of_member", developers.ConnectPath+"/activity?client_id="+o.client.ClientID)
	shown("grants_of_member", developers.GrantsPath)
	shown("forbidden", developers.KeysPath)
}
