package access

import (
	"context"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
)

// maxDocumentClientID is the maximum length of a client id that is a URL, in bytes.
const maxDocumentClientID = 1000

// IsDocumentClientID reports whether s has the form of the URL of a metadata document:
// https, a host in lower case, a path, and no user, query or fragment. [DocumentReader]
// checks more.
func IsDocumentClientID(s string) bool {
	if len(s) > maxDocumentClientID || !strings.HasPrefix(s, "https://") || strings.ContainsAny(s, `?#@\"<>`) ||
		strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && u.Host == strings.ToLower(u.Host) && u.Port() != "443" && strings.HasPrefix(u.Path, "/")
}

// Open reports whether the client belongs to no organization. Each organization may block
// such a client.
func (c Client) Open() bool {
	return c.OrgID == "" && (c.Kind == DocumentClient || c.Kind == DynamicClient)
}

// OpenClientStore stores the clients that belong to no organization, and the organizations
// that block each of them. [ClientStore.Client] finds such clients by their public client
// id. Every method takes part in the transaction of its context.
type OpenClientStore interface {
	// SaveDocumentClient stores the content of a metadata document. It inserts the client,
	// or replaces the name, redirect URIs, scopes and DocumentReadAt of the existing one. It
	// returns the stored client with its id.
	SaveDocumentClient(ctx context.Context, c Client) (Client, error)

	// BlockClient blocks a client in an organization by its public client id; UnblockClient
	// lifts the block. Repeating either call changes nothing.
	BlockClient(ctx context.Context, orgID, clientID string, at time.Time) error
	UnblockClient(ctx context.Context, orgID, clientID string) error
	// IsClientBlocked reports whether the organization blocks the client.
	IsClientBlocked(ctx context.Context, orgID, clientID string) (bool, error)
	// BlockedClients lists the clients that the organization blocks, newest first.
	BlockedClients(ctx context.Context, orgID string) ([]BlockedClient, error)

	// UnusedDynamicClients counts the self-registered clients that never had a grant.
	UnusedDynamicClients(ctx context.Context) (int, error)
	// PurgeDynamicClients deletes the self-registered clients without a grant that were
	// registered before the given time. It returns their number.
	PurgeDynamicClients(ctx context.Context, registeredBefore time.Time) (int, error)
}

// BlockedClient is a client that an organization blocks.
type BlockedClient struct {
	OrgID     string
	ClientID  string
	BlockedAt time.Time
}

// DocumentReader reads client-ID metadata documents. An implementation fetches them over
// the network and refuses addresses that are not public.
type DocumentReader interface {
	// ReadDocument fetches and checks the metadata document at a client id. The error text
	// is shown to the person at the browser: it names the fault and no internal detail.
	ReadDocument(ctx context.Context, clientID string) (ClientDocument, error)
}

// ClientDocument is the content of a valid metadata document.
type ClientDocument struct {
	ClientID     string // the canonical address of the document
	Name         string // the member client_name, or the host of ClientID if it is absent
	RedirectURIs []string
	// Scope lists the scopes that the document declares. nil means that it declares none and
	// that the client may request any scope.
	Scope []string
}

// Client returns the client that the metadata document describes, in the form in which it
// is stored. now is the time at which the document was read.
func (d ClientDocument) Client(now time.Time) Client {
	scopes := core.AllScopes()
	if d.Scope != nil {
		scopes = core.NewScopes(d.Scope...)
	}
	return Client{
		ID: core.NewID(), ClientID: d.ClientID, Name: d.Name, Environment: core.Live, Kind: DocumentClient,
		RedirectURIs: d.RedirectURIs, RefreshDays: openRefreshDays, Scopes: scopes, DocumentReadAt: &now, CreatedAt: now,
	}
}
