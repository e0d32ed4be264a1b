package access

import (
	"context"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/mailhelm/mailhelm/core"
)

// maxDocumentClientID bounds a client id that is an address, in bytes.
const maxDocumentClientID = 1000

// IsDocumentClientID reports whether s has the form of a client id that is the
// address of a metadata document: https, a host in lower case, a path, and
// neither user, query nor fragment. Whoever reads the document is stricter still.
func IsDocumentClientID(s string) bool {
	if len(s) > maxDocumentClientID || !strings.HasPrefix(s, "https://") || strings.ContainsAny(s, `?#@\"<>`) ||
		strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && u.Host == strings.ToLower(u.Host) && u.Port() != "443" && strings.HasPrefix(u.Path, "/")
}

// Open reports whether the client belongs to no organization: each may let it in,
// and may block it.
func (c Client) Open() bool {
	return c.OrgID == "" && (c.Kind == DocumentClient || c.Kind == DynamicClient)
}

// OpenClientStore keeps the clients that belong to no organization, and which
// organization does not let which of them in. [ClientStore.Client] finds them by their
// public client id like any other. Every method takes part in the transaction of
// its context.
type OpenClientStore interface {
	// SaveDocumentClient stores what a metadata document says now: it inserts the
	// client, or replaces name, redirect URIs, scopes and DocumentReadAt of the one
	// with this client id. It returns the client as it is stored, with its id.
	SaveDocumentClient(ctx context.Context, c Client) (Client, error)

	// BlockClient and UnblockClient keep a client out of an organization by its
	// public client id, or let it in again. Doing it twice is no error.
	BlockClient(ctx context.Context, orgID, clientID string, at time.Time) error
	UnblockClient(ctx context.Context, orgID, clientID string) error
	// ClientBlocked reports whether the organization keeps the client out.
	ClientBlocked(ctx context.Context, orgID, clientID string) (bool, error)
	// BlockedClients lists what the organization keeps out, newest first.
	BlockedClients(ctx context.Context, orgID string) ([]BlockedClient, error)

	// UnusedDynamicClients counts the clients that registered themselves and that no
	// grant, not even an ended one, belongs to.
	UnusedDynamicClients(ctx context.Context) (int, error)
	// PurgeDynamicClients forgets clients that registered themselves before the
	// given time and that no grant, not even an ended one, belongs to. It returns
	// how many.
	PurgeDynamicClients(ctx context.Context, registeredBefore time.Time) (int, error)
}

// BlockedClient is a client that an organization keeps out.
type BlockedClient struct {
	OrgID     string
	ClientID  string
	BlockedAt time.Time
}

// DocumentReader reads client-ID metadata documents. Its adapter does the
// fetching, and refuses addresses that are not public.
type DocumentReader interface {
	// ReadDocument fetches and checks the document at a client id. The error's text
	// is for the person who was sent here: it names the fault, nothing internal.
	ReadDocument(ctx context.Context, clientID string) (ClientDocument, error)
}

// ClientDocument is what a metadata document says that passed every rule.
type ClientDocument struct {
	ClientID     string // the canonical address of the document
	Name         string // client_name, or the host when there is none
	RedirectURIs []string
	// Scope is the declared list; nil when the document declares none, which means
	// that the client may ask for any.
	Scope []string
}

// Client is the client that a metadata document describes, as it is stored at
// the given time. Without a list of scopes it may ask for any.
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
