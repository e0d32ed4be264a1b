package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// RotateClientSecret replaces the secret of a client and returns the new one. The old
// secret stops working at once; access tokens and grants stay valid. It fails with
// core.CodeNotFound for an unknown client, and with core.CodeConflict for a revoked or
// public one.
func (l Lifecycle) RotateClientSecret(ctx context.Context, actor Actor, orgID, id string) (Client, string, error) {
	minted := MintClientSecret()
	var changed Client
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if changed, err = l.Clients.ClientByID(ctx, orgID, id); err != nil {
			return err
		}
		switch {
		case changed.RevokedAt != nil:
			return core.Conflict("This OAuth client was revoked.", "Register a new client.")
		case len(changed.SecretHash) == 0:
			return core.Conflict("This OAuth client is public and has no secret.", "Register a confidential client.")
		}
		changed.SecretHash = minted.Hash
		if err := l.Clients.SetClientSecret(ctx, orgID, id, minted.Hash); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{Actor: actor, Action: "oauth_client.secret_rotated", OrgID: orgID, Subject: id})
	}, id)
	if err != nil {
		return Client{}, "", err
	}
	return changed, minted.Secret, nil
}
