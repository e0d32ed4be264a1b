package access

import (
	"context"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
)

// maxDocumentClientID is the longest client id that is an address, in bytes.
const maxDocumentClientID = 1000

// IsDocumentClientID reports whether s has the form of a client id that is the address
// of a metadata document: https, a host in lower case, a path, and neither user, query
// nor fragment. [DocumentReader] is stricter.
func IsDocumentClientID(s string) bool {
	if len(s) > maxDocumentClientID || !strings.HasPrefix(s, "https://") || strings.ContainsAny(s, `?#@\"<>`) ||
		strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && u.Host == strings.ToLower(u.Host) && u.Port() != "443" && strings.HasPrefix(u.Path, "/")
}

// Open reports whether the client belongs to no organization. Every organization may
// admit or block such a client.
func (c Client) Open() bool {
	return c.OrgID == "" && (c.Kind == DocumentClient || c.Kind == DynamicClient)
}

// OpenClientStore stores the clients that belong to no organization, and which organizations
// block them. [ClientStore.Client] finds them by their public client id. Every method takes
// part in the transaction of its context.
type OpenClientStore interface {
	// SaveDocumentClient stores the content of a metadata document. It inserts the client,
	// or replaces the name, redirect URIs, scopes and DocumentReadAt of the existing one. It
	// returns the stored client with its id.
	SaveDocumentClient(ctx context.Context, c Client) (Client, error)

	// BlockClient blocks a client in an organization by its public client id;
	// UnblockClient admits it again. Both may be repeated.
	BlockClient(ctx context.Context, orgID, clientID string, at time.Time) error
	UnblockClient(ctx context.Context, orgID, clientID string) error
	// IsClientBlocked reports whether the organization blocks the client.
	IsClientBlocked(ctx context.Context, orgID, clientID string) (bool, error)
	// BlockedClients lists the clients that the organization blocks, newest first.
	BlockedClients(ctx context.Context, orgID string) ([]BlockedClient, error)

	// UnusedDynamicClients counts the self-registered clients that never had a grant.
	UnusedDynamicClients(ctx context.Context) (int, error)
	// PurgeDynamicClients deletes self-registered clients without a grant that
	// registered before the given time. It returns how many.
	PurgeDynamicClients(ctx context.Context, registeredBefore time.Time) (int, error)
}

// BlockedClient is a client that an organization blocks.
type BlockedClient struct {
	OrgID     string
	ClientID  string
	BlockedAt time.Time
}

// DocumentReader reads client-ID metadata documents. Its adapter fetches them and
// refuses addresses that are not public.
type DocumentReader interface {
	// ReadDocument fetches and checks the document at a client id. The error's text is
	// for the person at the browser: it names the fault and nothing internal.
	ReadDocument(ctx context.Context, clientID string) (ClientDocument, error)
}

// ClientDocument is the content of a valid metadata document.
type ClientDocument struct {
	ClientID     string // the canonical address of the document
	Name         string // client_name, or the host when there is none
	RedirectURIs []string
	// Scope is the declared list. nil means that the document declares none and that the
	// client may request any scope.
	Scope []string
}

// Client returns the client that a metadata document describes, as it is stored at the time
// now.
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
