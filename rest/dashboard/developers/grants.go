package developers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// maxGrants is the maximum number of grants that the page lists. It lists the newest.
const maxGrants = 200

// grantNotices are the messages that the page of grants shows after a change, by name.
var grantNotices = frame.Notices{"revoked": "The access has ended. The application's tokens are refused."}

// grantRow is the data of one grant on the page of grants.
type grantRow struct {
	Client string
	// host of the application's metadata document, or who registered the application, in
	// words
	Owner       string
	ClientID    string
	Environment core.Environment
	Person      string
	Resource    string
	Scopes      []scopeChoice
	Since       string
	Until       string
	Revoke      frame.Form
	Block       *frame.Form // nil if the visitor may not block the application
}

// grantList is the data of the page of grants.
type grantList struct {
	Own, Others []grantRow
	// All is true when the visitor sees the grants of all members.
	All  bool
	More bool // the list is full, so there may be older grants
	MCP  string
}

// showGrants lists the visitor's own grants, or those of all members for a visitor who may
// manage credentials.
func (h grantHandlers) showGrants(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	whose, manages := v.User.ID, v.Member.Has(members.MayManageCredentials)
	if manages {
		whose = ""
	}
	grants, err := h.Grants.Grants(r.Context(), v.Org.ID, whose, maxGrants)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("grants: %w", err))
		return
	}
	data := grantList{All: manages, More: len(grants) == maxGrants, MCP: h.MCPURL + "/mcp"}
	names := h.namesFor(v)
	for _, g := range grants {
		row, err := names.row(r.Context(), g)
		if err != nil {
			h.Fail(w, r, v, err)
			return
		}
		if g.UserID == v.User.ID {
			data.Own = append(data.Own, row)
		} else {
			data.Others = append(data.Others, row)
		}
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "grants", Title: "Access", Notice: grantNotices.NoticeOf(r), Data: data})
}

// revokeGrant revokes a grant of the visitor. A visitor who may manage credentials can
// revoke a grant of any member. For other visitors, a grant of another member is answered
// with 404.
func (h grantHandlers) revokeGrant(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return
	}
	g, err := h.Grants.Grant(r.Context(), v.Org.ID, id)
	switch {
	case err != nil:
		h.Fail(w, r, v, err)
		return
	case g.UserID != v.User.ID && !v.Member.Has(members.MayManageCredentials):
		h.NoSuchPage(w, r, v)
		return
	}
	tasks := h.lifecycle(v)
	if g.UserID == v.User.ID {
		tasks.Transactor = h.MemberTransactor(v)
	}
	if _, err := tasks.RevokeGrant(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, id); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, GrantsPath, "revoked")
}

// grantNames reads the names of applications and people for the page of grants. It reads
// each name only once.
type grantNames struct {
	h       grantHandlers
	v       people.Visitor
	clients map[string]access.Client
	people  map[string]string
}

// namesFor returns a grantNames for a visitor. At first it contains only the visitor's own
// email address; further names are read when they are needed.
func (h grantHandlers) namesFor(v people.Visitor) grantNames {
	return grantNames{h: h, v: v, clients: map[string]access.Client{}, people: map[string]string{v.User.ID: v.User.Email}}
}

// row returns the data of a grant for the page. It fails if a store fails.
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
		Client: frame.PlainName(client.Name), Owner: n.owner(client), ClientID: g.ClientID, Environment: client.Environment, Person: person,
		Resource: resourceInWords(g.Resource), Scopes: scopeRows(g.Scopes), Since: g.CreatedAt.UTC().Format(frame.DateLayout), Until: "it is revoked",
		Revoke: frame.FormTo(n.v, GrantsPath+"/"+g.ID+"/revoke"),
	}
	if g.ExpiresAt != nil {
		row.Until = g.ExpiresAt.UTC().Format(frame.DateLayout)
	}
	if client.Open() && n.v.Member.Has(members.MayManageCredentials) {
		block := frame.FormTo(n.v, blockPath)
		row.Block = &block
	}
	return row, nil
}

// client returns the client with a public client id. For a deleted client it returns a
// client whose name is its id.
func (n grantNames) client(ctx context.Context, clientID string) (access.Client, error) {
	if c, ok := n.clients[clientID]; ok {
		return c, nil
	}
	c, err := n.h.Public.Client(ctx, clientID)
	switch {
	case err != nil && core.AsError(err).Code == core.CodeNotFound:
		c = access.Client{ClientID: clientID, Name: clientID}
	case err != nil:
		return access.Client{}, fmt.Errorf("client of a grant: %w", err)
	}
	n.clients[clientID] = c
	return c, nil
}

// person returns the email address of a user. It reads each user only once.
func (n grantNames) person(ctx context.Context, userID string) (string, error) {
	if name, ok := n.people[userID]; ok {
		return name, nil
	}
	user, err := n.h.Users.UserByID(ctx, userID)
	if err != nil {
		return "", fmt.Errorf("person of a grant: %w", err)
	}
	n.people[userID] = user.Email
	return user.Email, nil
}

// owner describes where an application comes from: the host of its metadata document, which
// is verified, or how it was registered. It returns "" if neither is known. An
// application's name is not verified.
func (n grantNames) owner(c access.Client) string {
	switch {
	case c.Kind == access.DocumentClient:
		if u, err := url.Parse(c.ClientID); err == nil {
			return "at " + u.Host
		}
		return ""
	case c.Kind == access.DynamicClient:
		return "registered itself, so its name is not verified"
	case c.OrgID == n.v.Org.ID:
		return "registered by " + n.v.Org.Name
	}
	return ""
}

// resourceInWords returns the text with which the page of grants names a resource.
func resourceInWords(r access.Resource) string {
	if r == access.Agent {
		return "the agent endpoint (MCP)"
	}
	return "the public API"
}
