package oauth

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core/access"
)

const clientUnknown = "The application that sent you here is not registered, or its registration was revoked."

// askingClient finds the client of an authorization request. One whose id is an
// address is what its metadata document says now.
func (s *Server) askingClient(ctx context.Context, clientID string) (access.Client, *AuthorizationRefusal) {
	found, err := s.findClient(ctx, clientID)
	if err != nil {
		return access.Client{}, checkFailed(err)
	}
	if found.RevokedAt != nil {
		return access.Client{}, tell(clientUnknown)
	}
	if access.IsDocumentClientID(clientID) && s.documents != nil {
		return s.describedClient(ctx, found, clientID)
	}
	if found.ClientID == "" {
		return access.Client{}, tell(clientUnknown)
	}
	return found, nil
}

// describedClient reads the document and brings what is stored of the client up
// to date with it. A client that is not stored yet is stored when somebody lets
// it in: otherwise whoever sends people here could fill the store.
func (s *Server) describedClient(ctx context.Context, stored access.Client, clientID string) (access.Client, *AuthorizationRefusal) {
	document, err := s.documents.ReadDocument(ctx, clientID)
	if err != nil {
		return access.Client{}, tell(err.Error())
	}
	if document.ClientID != clientID {
		return access.Client{}, tell("The application that sent you here does not write its address as its own description does, so it cannot be told who it is.")
	}
	described := document.Client(s.clock())
	if stored.ClientID == "" {
		return described, nil
	}
	if stored.Name == described.Name && slices.Equal(stored.RedirectURIs, described.RedirectURIs) && slices.Equal(stored.Scopes, described.Scopes) {
		return stored, nil
	}
	if described, err = s.stores.OpenClients.SaveDocumentClient(ctx, described); err != nil {
		return access.Client{}, checkFailed(fmt.Errorf("save document client: %w", err))
	}
	return described, nil
}

// keepDescribed stores a client that somebody lets in, if a document describes it.
func (s *Server) keepDescribed(ctx context.Context, client access.Client) error {
	if client.Kind != access.DocumentClient {
		return nil
	}
	if _, err := s.stores.OpenClients.SaveDocumentClient(ctx, client); err != nil {
		return fmt.Errorf("save document client: %w", err)
	}
	return nil
}

// Blocked reports whether an organization keeps a client out. It can only be so
// for a client that belongs to none.
func (s *Server) Blocked(ctx context.Context, client access.Client, orgID string) (bool, error) {
	if !client.Open() {
		return false, nil
	}
	blocked, err := s.stores.OpenClients.ClientBlocked(ctx, orgID, client.ClientID)
	if err != nil {
		return false, fmt.Errorf("client blocked: %w", err)
	}
	return blocked, nil
}

// NamesDocument reports whether [Server.ReadAuthorization] may have to fetch a
// metadata document for a query. A page asks people to sign in before that, so
// that nobody else can make the server fetch anything.
func NamesDocument(rawQuery string) bool {
	query, err := url.ParseQuery(rawQuery)
	return err == nil && access.IsDocumentClientID(single(query, "client_id"))
}

// checkFailed is the refusal when the fault is the server's.
func checkFailed(cause error) *AuthorizationRefusal {
	refused := tell("The request could not be checked. Try again in a moment.")
	refused.Err = cause
	return refused
}
