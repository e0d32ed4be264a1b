package developers

import (
	"context"
	"embed"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// The paths of the pages to which other packages of the dashboard link.
const (
	KeysPath    = frame.Path + "/keys"
	NewKeyPath  = KeysPath + "/new"
	ClientsPath = frame.Path + "/clients"
	GrantsPath  = frame.Path + "/grants"
	ConnectPath = frame.Path + "/connect"
	// ActivityPath is the page with the calls of assistants.
	ActivityPath = ConnectPath + "/activity"
)

// Keys reads an organization's API keys, including revoked ones. In a transaction, it locks
// each key that it reads until the transaction ends.
type Keys interface {
	APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error)
	APIKey(ctx context.Context, orgID, id string) (access.APIKey, error)
}

// Clients reads the OAuth clients that an organization registered, including revoked ones.
// In a transaction, it locks each client that it reads until the transaction ends.
type Clients interface {
	ClientsOf(ctx context.Context, orgID string) ([]access.Client, error)
	ClientByID(ctx context.Context, orgID, id string) (access.Client, error)
}

// PublicClients finds clients of any organization by their public client id, including
// revoked ones.
type PublicClients interface {
	Client(ctx context.Context, clientID string) (access.Client, error)
}

// BlockedClients lists the clients that an organization blocks.
type BlockedClients interface {
	BlockedClients(ctx context.Context, orgID string) ([]access.BlockedClient, error)
}

// Grants reads the grants with which people gave applications access.
type Grants interface {
	// Grants returns the active grants that match the filter, newest first.
	Grants(ctx context.Context, orgID string, f access.GrantFilter) ([]access.Grant, error)
	Grant(ctx context.Context, orgID, id string) (access.Grant, error)
}

// Members reads one member of an organization.
type Members interface {
	Member(ctx context.Context, orgID, userID string) (members.Member, error)
}

// Users reads the account of a person.
type Users interface {
	UserByID(ctx context.Context, userID string) (access.User, error)
}

// Usage reads the numbers of calls at the agent endpoint.
type Usage interface {
	// Usage returns the sums by client, person and tool, or by client and person with
	// Totals, those with the most calls first.
	Usage(ctx context.Context, orgID string, f usage.Filter) ([]usage.Row, error)
}

// Config configures the pages about credentials. All fields are required.
type Config struct {
	// Keys reads API keys. Clients and Public read OAuth clients; Public also finds clients
	// of other organizations, by their public client id.
	Keys    Keys
	Clients Clients
	Public  PublicClients
	Blocked BlockedClients
	Grants  Grants
	Members Members
	Users   Users
	Usage   Usage
	// Lifecycle changes credentials. For each request, the pages use a copy of Lifecycle
	// whose Transactor checks the visitor's permission.
	Lifecycle access.Lifecycle
	// APIURL, MCPURL and AuthURL are the public origins of the API, the agent endpoint and
	// the OAuth server, which the pages show.
	APIURL, MCPURL, AuthURL string
	Clock                   core.Clock
}

// Developers has the pages about credentials; see dashboard.Room.
type Developers struct {
	Config
	*frame.Pages
}

// New returns the pages about credentials. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Developers, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Developers{cfg, pages}, nil
}

// The page handlers, grouped by what their pages manage. Each has the fields and methods of
// Developers.
type (
	keyHandlers    struct{ *Developers }
	clientHandlers struct{ *Developers }
	grantHandlers  struct{ *Developers }
	// connectHandlers has the pages about assistants.
	connectHandlers struct{ *Developers }
)

// Routes returns the routes of all pages about credentials.
func (d *Developers) Routes() []frame.Route {
	return slices.Concat(keyHandlers{d}.routes(), clientHandlers{d}.routes(), grantHandlers{d}.routes(), connectHandlers{d}.routes())
}

// routes returns the routes of the pages about API keys. All need the permission to manage
// credentials.
func (h keyHandlers) routes() []frame.Route {
	manage := members.MayManageCredentials
	return []frame.Route{
		{Path: "/keys", Needs: manage, Get: h.showKeys},
		{Path: "/keys/new", Needs: manage, Get: h.showNewKey, Post: h.createKey},
		{Path: "/keys/{id}", Needs: manage, Get: h.showKey},
		{Path: "/keys/{id}/scopes", Needs: manage, Get: h.showKeyScopes, Post: h.editKeyScopes},
		{Path: "/keys/{id}/rotate", Needs: manage, Get: h.showRotateKey, Post: h.rotateKey},
		{Path: "/keys/{id}/revoke", Needs: manage, Get: h.showRevokeKey, Post: h.revokeKey},
	}
}

// routes returns the routes of the pages about OAuth clients. All need the permission to
// manage credentials.
func (h clientHandlers) routes() []frame.Route {
	manage := members.MayManageCredentials
	return []frame.Route{
		{Path: "/clients", Needs: manage, Get: h.showClients},
		{Path: "/clients/new", Needs: manage, Get: h.showNewClient, Post: h.createClient},
		{Path: "/clients/block", Needs: manage, Post: h.blockClient},
		{Path: "/clients/unblock", Needs: manage, Post: h.unblockClient},
		{Path: "/clients/{id}", Needs: manage, Get: h.showClient},
		{Path: "/clients/{id}/edit", Needs: manage, Get: h.showEditClient, Post: h.editClient},
		{Path: "/clients/{id}/secret", Needs: manage, Get: h.showRotateSecret, Post: h.rotateSecret},
		{Path: "/clients/{id}/revoke", Needs: manage, Get: h.showRevokeClient, Post: h.revokeClient},
	}
}

// routes returns the routes of the pages about grants. They need no permission, because
// every member may see and revoke their own grants.
func (h grantHandlers) routes() []frame.Route {
	return []frame.Route{
		{Path: "/grants", Get: h.showGrants},
		{Path: "/grants/{id}/revoke", Post: h.revokeGrant},
	}
}

// routes returns the routes of the pages about assistants. They need no permission, because
// every member may connect an assistant and see what it did.
func (h connectHandlers) routes() []frame.Route {
	return []frame.Route{
		{Path: "/connect", Get: h.showConnect},
		{Path: "/connect/activity", Get: h.showActivity},
	}
}

// lifecycle returns the operations on credentials for a visitor. Each checks inside its
// transaction that the visitor may manage credentials.
func (d *Developers) lifecycle(v people.Visitor) access.Lifecycle {
	tasks := d.Lifecycle
	tasks.Transactor = d.TransactorWith(v, members.MayManageCredentials)
	return tasks
}

// manageCredentials runs do in a transaction that first checks the visitor's permission to
// manage credentials. do gets the visitor's membership as read in the transaction. The
// permissions of this membership limit the scopes that the visitor can give to a program.
func (d *Developers) manageCredentials(ctx context.Context, v people.Visitor, do func(context.Context, members.Member) error) error {
	return d.TransactorWith(v, members.MayManageCredentials).InTx(ctx, func(ctx context.Context) error {
		m, err := d.Members.Member(ctx, v.Org.ID, v.User.ID)
		if err != nil {
			return err
		}
		return do(ctx, m)
	})
}
