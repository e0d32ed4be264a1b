package access

import (
	"context"
	"time"
)

// RevokeKey ends an API key for good, at once, and returns it as it is then. A key
// that does not work any more stays as it is and gets no second line in the audit
// log. It fails with core.CodeNotFound for an unknown key.
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
