package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const grantsPath = Path + "/grants"

// maxGrants bounds what the page lists; the newest are shown.
const maxGrants = 200

// grantPages let every member see and end what they allowed themselves.
func (d *Dashboard) grantPages() []route {
	return []route{
		{path: "/grants", get: d.showGrants},
		{path: "/grants/{id}/revoke", post: d.revokeGrant},
	}
}

var grantNotices = notices{"revoked": "The access has ended. The application's tokens are refused from now on."}

// grantRow is what somebody allowed an application to do.
type grantRow struct {
	Client      string
	Owner       string // who stands behind the application, in words
	ClientID    string
	Environment core.Environment
	Person      string
	Resource    string
	Scopes      []scopeChoice
	Since       string
	Until       string
	Revoke      form
	Block       *form // nil when the visitor cannot block the application
}

// grantList is what the page shows.
type grantList struct {
	Own, Others []grantRow
	// All is true when the visitor sees what everybody allowed.
	All  bool
	More bool // there are more than the page lists
	MCP  string
}

func (d *Dashboard) showGrants(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	whose, manages := v.User.ID, v.Member.Has(access.MayManageCredentials)
	if manages {
		whose = ""
	}
	grants, err := d.Grants.Grants(r.Context(), v.Org.ID, whose, maxGrants)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("grants: %w", err))
		return
	}
	data := grantList{All: manages, More: len(grants) == maxGrants, MCP: d.MCPURL + "/mcp"}
	names := d.namesFor(v)
	for _, g := range grants {
		row, err := names.row(r.Context(), g)
		if err != nil {
			d.fail(w, r, v, err)
			return
		}
		if g.UserID == v.User.ID {
			data.Own = append(data.Own, row)
		} else {
			data.Others = append(data.Others, row)
		}
	}
	d.show(w, r, v, http.StatusOK, screen{page: "grants", title: "Access", notice: grantNotices.of(r), data: data})
}

// revokeGrant ends one of the visitor's own, or with the permission anybody's. A
// grant of somebody else looks to others as if there were none.
func (d *Dashboard) revokeGrant(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		d.noSuchPage(w, r, v)
		return
	}
	g, err := d.Grants.Grant(r.Context(), v.Org.ID, id)
	switch {
	case err != nil:
		d.fail(w, r, v, err)
		return
	case g.UserID != v.User.ID && !v.Member.Has(access.MayManageCredentials):
		d.noSuchPage(w, r, v)
		return
	}
	tasks := d.lifecycle(v)
	if g.UserID == v.User.ID {
		tasks.Transactor = d.belonging(v)
	}
	if _, err := tasks.RevokeGrant(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id); err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, grantsPath, "revoked")
}

// grantNames looks up whom grants are of and to, each once.
type grantNames struct {
	d       *Dashboard
	v       access.Visitor
	clients map[string]access.Client
	people  map[string]string
}

func (d *Dashboard) namesFor(v access.Visitor) grantNames {
	return grantNames{d: d, v: v, clients: map[string]access.Client{}, people: map[string]string{v.User.ID: v.User.Email}}
}

func (n grantNames) row(ctx context.Context, g access.Grant) (grantRow, error) {
	client, err := n.client(ctx, g.ClientID)
	if err != nil {
		return grantRow{}, err
	}
	person, err := n.person(ctx, g.UserID)
	if err != nil {
		return grantRow{}, err
	}
	row := grantRow{
		Client: plainName(client.Name), Owner: n.owner(client), ClientID: g.ClientID, Environment: client.Environment, Person: person,
		Resource: resourceInWords(g.Resource), Scopes: scopeRows(g.Scopes), Since: g.CreatedAt.UTC().Format(dateLayout), Until: "somebody ends it",
		Revoke: formTo(n.v, grantsPath+"/"+g.ID+"/revoke"),
	}
	if g.ExpiresAt != nil {
		row.Until = g.ExpiresAt.UTC().Format(dateLayout)
	}
	if client.Open() && n.v.Member.Has(access.MayManageCredentials) {
		block := formTo(n.v, blockPath)
		row.Block = &block
	}
	return row, nil
}

// client finds by the public client id. One that is gone is named by that.
func (n grantNames) client(ctx context.Context, clientID string) (access.Client, error) {
	if c, ok := n.clients[clientID]; ok {
		return c, nil
	}
	c, err := n.d.Clients.Client(ctx, clientID)
	switch {
	case err != nil && core.AsError(err).Code == core.CodeNotFound:
		c = access.Client{ClientID: clientID, Name: clientID}
	case err != nil:
		return access.Client{}, fmt.Errorf("client of a grant: %w", err)
	}
	n.clients[clientID] = c
	return c, nil
}

func (n grantNames) person(ctx context.Context, userID string) (string, error) {
	if name, ok := n.people[userID]; ok {
		return name, nil
	}
	user, err := n.d.Users.UserByID(ctx, userID)
	if err != nil {
		return "", fmt.Errorf("person of a grant: %w", err)
	}
	n.people[userID] = user.Email
	return user.Email, nil
}

// owner says who stands behind an application. Only a metadata document's host is
// known for sure; a name anybody can give themselves.
func (n grantNames) owner(c access.Client) string {
	switch {
	case c.Kind == access.DocumentClient:
		if u, err := url.Parse(c.ClientID); err == nil {
			return "at " + u.Host
		}
		return ""
	case c.Kind == access.DynamicClient:
		return "registered itself, so nobody vouches for the name"
	case c.OrgID == n.v.Org.ID:
		return "registered by " + n.v.Org.Name
	}
	return ""
}

// resourceInWords says where a token is good.
func resourceInWords(r access.Resource) string {
	if r == access.Agent {
		return "the agent endpoint (MCP)"
	}
	return "the public API"
}
