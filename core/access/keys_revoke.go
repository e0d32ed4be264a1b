package access

import (
	"context"
	"time"
)

// RevokeKey revokes an API key at once and returns it. A key that is revoked or expired
// already is not changed. It fails with core.CodeNotFound for an unknown key.
func (l Lifecycle) RevokeKey(ctx context.Context, actor Actor, orgID, id string) (APIKey, error) {
	var key APIKey
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if key, err = l.Keys.APIKey(ctx, orgID, id); err != nil || !key.worksAt(now) {
			return err
		}
		if err := l.Keys.RevokeAPIKey(ctx, orgID, id, now); err != nil {
			return err
		}
		key.RevokedAt = &now
		return l.record(ctx, now, AuditEntry{Actor: actor, Action: "api_key.revoked", OrgID: orgID, Subject: id})
	}, id)
	return key, err
}
