package access

import (
	"context"
	"time"
)

// RevokeGrant revokes a grant and returns it. All tokens of the grant are refused from then
// on. Revoking twice changes nothing. It fails with core.CodeNotFound for an unknown grant.
func (l Lifecycle) RevokeGrant(ctx context.Context, actor Actor, orgID, id string) (Grant, error) {
	var grant Grant
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if grant, err = l.Grants.Grant(ctx, orgID, id); err != nil || grant.RevokedAt != nil {
			return err
		}
		if err := l.Grants.RevokeGrant(ctx, orgID, id, now); err != nil {
			return err
		}
		grant.RevokedAt = &now
		return l.record(ctx, now, AuditEntry{Actor: actor, Action: "oauth_grant.revoked", OrgID: orgID, Subject: id})
	})
	if err != nil {
		return Grant{}, err
	}
	l.forgetGrants([]string{id})
	return grant, nil
}
