package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core/access"
)

// clientUnknown is the message on the page when the client of an authorization request is
// unknown or revoked.
const clientUnknown = "The application that sent you here is not registered, or its registration was revoked."

// askingClient returns the client of an authorization request. If the client id is a URL,
// it reads the client's metadata document.
func (a *Authorizations) askingClient(ctx context.Context, clientID string) (access.Client, *AuthorizationRefusal) {
	found, err := a.clients.find(ctx, clientID)
	if err != nil {
		return access.Client{}, checkFailed(err)
	}
	if found.RevokedAt != nil {
		return access.Client{}, refuseToPerson(clientUnknown)
	}
	if access.IsDocumentClientID(clientID) && a.documents != nil {
		return a.describedClient(ctx, found, clientID)
	}
	if found.ClientID == "" {
		return access.Client{}, refuseToPerson(clientUnknown)
	}
	return found, nil
}

// describedClient reads the metadata document of a client and updates the stored client if
// the document changed. It does not store a new client before a person approves it;
// otherwise links to the consent page could fill the store.
func (a *Authorizations) describedClient(ctx context.Context, stored access.Client, clientID string) (access.Client, *AuthorizationRefusal) {
	document, err := a.documents.ReadDocument(ctx, clientID)
	if err != nil {
		return access.Client{}, refuseToPerson(err.Error())
	}
	if document.ClientID != clientID {
		return access.Client{}, refuseToPerson("The application's client id is spelled differently from the one in its own metadata document, so the application cannot be identified.")
	}
	described := document.Client(a.clock())
	if stored.ClientID == "" {
		return described, nil
	}
	if stored.Name == described.Name && slices.Equal(stored.RedirectURIs, described.RedirectURIs) && slices.Equal(stored.Scopes, described.Scopes) {
		return stored, nil
	}
	if described, err = a.stores.OpenClients.SaveDocumentClient(ctx, described); err != nil {
		return access.Client{}, checkFailed(fmt.Errorf("save document client: %w", err))
	}
	return described, nil
}

// saveDescribed stores a client that has a metadata document. It is called when a person
// approves the client. It does nothing for clients without a metadata document.
func (a *Authorizations) saveDescribed(ctx context.Context, client access.Client) error {
	if client.Kind != access.DocumentClient {
		return nil
	}
	if _, err := a.stores.OpenClients.SaveDocumentClient(ctx, client); err != nil {
		return fmt.Errorf("save document client: %w", err)
	}
	return nil
}

// IsBlocked reports whether an organization blocks a client. Only clients without an
// organization can be blocked.
func (a *Authorizations) IsBlocked(ctx context.Context, client access.Client, orgID string) (bool, error) {
	if !client.Open() {
		return false, nil
	}
	blocked, err := a.stores.OpenClients.IsClientBlocked(ctx, orgID, client.ClientID)
	if err != nil {
		return false, fmt.Errorf("client blocked: %w", err)
	}
	return blocked, nil
}

// NamesDocument reports whether [Authorizations.ReadAuthorization] may fetch a metadata
// document for this query. In that case the page requires sign-in first, so that only
// people with an account can cause a fetch.
func NamesDocument(rawQuery string) bool {
	query, err := url.ParseQuery(rawQuery)
	return err == nil && access.IsDocumentClientID(singleValue(query, "client_id"))
}

// checkFailed returns the refusal for an internal error. The person is asked to try again;
// the cause is only in the log.
func checkFailed(cause error) *AuthorizationRefusal {
	refused := refuseToPerson("The request could not be checked. Try again in a moment.")
	refused.Err = cause
	return refused
}
