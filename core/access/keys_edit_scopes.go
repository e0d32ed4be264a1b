package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// EditKeyScopes replaces the scopes of an API key and returns the key. If the key already
// has exactly these scopes, it writes nothing. It fails with core.CodeValidationFailed for
// an unknown scope, core.CodeNotFound for an unknown key, and core.CodeConflict for a
// revoked or expired key.
func (l Lifecycle) EditKeyScopes(ctx context.Context, actor Actor, orgID, id string, scopes core.Scopes) (APIKey, error) {
	scopes, err := checkScopes(scopes)
	if err != nil {
		return APIKey{}, err
	}
	var key APIKey
	err = l.change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if key, err = l.workingKey(ctx, orgID, id, now); err != nil {
			return err
		}
		diff := diffScopes(key.Scopes, scopes)
		if diff.empty() {
			return nil
		}
		if err := l.Keys.SetAPIKeyScopes(ctx, orgID, id, scopes); err != nil {
			return err
		}
		key.Scopes = scopes
		return l.record(ctx, now, AuditEntry{
			Actor: actor, Action: "api_key.scopes_updated", OrgID: orgID, Subject: id, Detail: diff,
		})
	}, id)
	return key, err
}

// workingKey returns a key and locks it until the transaction ends. It fails with
// core.CodeConflict for a revoked or expired key.
func (l Lifecycle) workingKey(ctx context.Context, orgID, id string, now time.Time) (APIKey, error) {
	key, err := l.Keys.APIKey(ctx, orgID, id)
	if err != nil {
		return APIKey{}, err
	}
	switch key.StateAt(now) {
	case KeyRevoked:
		return APIKey{}, core.Conflict("This API key was revoked.", "Create a new key.")
	case KeyExpired:
		return APIKey{}, core.Conflict("This API key was rotated, and its grace period of 24 hours is over.", "Use the key that replaced it, or create a new one.")
	}
	return key, nil
}
