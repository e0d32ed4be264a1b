package access

import (
	"context"
	"time"
)

// RevokeClient revokes an OAuth client and its grants, and returns the client. From then
// on, its access tokens and its requests for tokens are refused. Revoking twice changes
// nothing. It fails with core.CodeNotFound for an unknown client.
func (l Lifecycle) RevokeClient(ctx context.Context, actor Actor, orgID, id string) (Client, error) {
	var client Client
	var ended []string
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if client, err = l.Clients.ClientByID(ctx, orgID, id); err != nil || client.RevokedAt != nil {
			return err
		}
		if err := l.Clients.RevokeClient(ctx, orgID, id, now); err != nil {
			return err
		}
		client.RevokedAt = &now
		if ended, err = l.Grants.RevokeGrantsOf(ctx, orgID, client.ClientID, now); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{Actor: actor, Action: "oauth_client.revoked", OrgID: orgID, Subject: id})
	}, id)
	if err != nil {
		return Client{}, err
	}
	l.forgetGrants(ended)
	return client, nil
}
