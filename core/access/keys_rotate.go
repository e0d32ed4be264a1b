package access

import (
	"cmp"
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Grace is how long a rotated API key works after the rotation.
const Grace = 24 * time.Hour

// rotatedTo is the detail of the audit entry about the old key of a rotation. rotatedFrom
// is the detail of the audit entry about the new key.
type (
	rotatedTo struct {
		ReplacedBy string    `json:"replaced_by"` // id of the new key
		ExpiresAt  time.Time `json:"expires_at"`
	}
	rotatedFrom struct {
		Replaces string `json:"replaces"` // id of the old key
	}
)

// RotateKey creates a key with the name, environment and scopes of an existing key, and
// returns it with its secret. The existing key remains valid for the duration [Grace].
// RotateKey fails with core.CodeNotFound for an unknown key. It fails with
// core.CodeConflict for a revoked, expired or already rotated key: a second rotation would
// change the time at which the old key expires.
func (l Lifecycle) RotateKey(ctx context.Context, actor Actor, orgID, id string) (APIKey, string, error) {
	var next APIKey
	var secret string
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		old, err := l.workingKey(ctx, orgID, id, now)
		if err != nil {
			return err
		}
		if old.ExpiresAt != nil {
			return core.Conflict("This API key was rotated already.", "Rotate the key that replaced it.")
		}
		next, secret = mintKey(orgID, old.Name, old.Environment, old.Scopes)
		next.CreatedAt, next.Owner = now, cmp.Or(old.Owner, old.ID)
		return l.replace(ctx, actor, old, next)
	}, id)
	if err != nil {
		return APIKey{}, "", err
	}
	return next, secret, nil
}

func (l Lifecycle) replace(ctx context.Context, actor Actor, old, next APIKey) error {
	now := next.CreatedAt
	end := now.Add(Grace)
	if err := l.Keys.SetAPIKeyExpiry(ctx, old.OrgID, old.ID, end); err != nil {
		return err
	}
	if err := l.Keys.InsertAPIKey(ctx, next); err != nil {
		return err
	}
	entry := AuditEntry{Actor: actor, Action: "api_key.rotated", OrgID: old.OrgID, Subject: old.ID, Detail: rotatedTo{next.ID, end}}
	if err := l.record(ctx, now, entry); err != nil {
		return err
	}
	entry.Subject, entry.Detail = next.ID, rotatedFrom{old.ID}
	return l.record(ctx, now, entry)
}
