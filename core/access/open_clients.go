package access

import (
	"context"
	"time"
)

// OpenClientStore keeps the clients that belong to no organization, and which
// organization does not let which of them in. [Store.Client] finds them by their
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
