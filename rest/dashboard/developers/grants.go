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

// maxGrants is the maximum number of grants in a list of a page. The list has the newest.
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

// grantRows is the data of a list of grants, the newest first.
type grantRows struct {
	Rows []grantRow
	More bool // whether there are older grants, which are not in the list
}

// grantList is the data of the page of grants.
type grantList struct {
	Own, Others grantRows
	// All is true when the visitor sees the grants of all members.
	All bool
	MCP string
}

// showGrants lists the visitor's own grants, or those of all members for a visitor who may
// manage credentials.
func (h grantHandlers) showGrants(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data := grantList{All: v.Member.Has(members.MayManageCredentials), MCP: h.MCPURL + "/mcp"}
	names := h.namesFor(v)
	var err error
	if data.Own, err = names.newest(r.Context(), access.GrantFilter{UserID: v.User.ID}); err == nil && data.All {
		data.Others, err = names.newest(r.Context(), access.GrantFilter{ExceptUserID: v.User.ID})
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "grants", Title: "Access", Notice: grantNotices.NoticeOf(r), Data: data})
}

// newestGrants returns the newest grants of the visitor's organization that match the
// filter, at most maxGrants. more is true if there are older ones.
func (d *Developers) newestGrants(ctx context.Context, v people.Visitor, f access.GrantFilter) (grants []access.Grant, more bool, err error) { //nolint:nonamedreturns // says which
	f.Limit = maxGrants + 1
	if grants, err = d.Grants.Grants(ctx, v.Org.ID, f); err != nil {
		return nil, false, fmt.Errorf("grants: %w", err)
	}
	return grants[:min(maxGrants, len(grants))], len(grants) > maxGrants, nil
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

// newest returns the data of the newest grants that match the filter.
func (n grantNames) newest(ctx context.Context, f access.GrantFilter) (grantRows, error) {
	grants, more, err := n.h.newestGrants(ctx, n.v, f)
	if err != nil {
		return grantRows{}, err
	}
	list := grantRows{More: more}
	for _, g := range grants {
		row, err := n.row(ctx, g)
		if err != nil {
			return grantRows{}, err
		}
		list.Rows = append(list.Rows, row)
	}
	return list, nil
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
