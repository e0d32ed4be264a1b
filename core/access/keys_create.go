package access

import (
	"cmp"
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// NewKey is the input of [Lifecycle.CreateKey].
type NewKey struct {
	// ID is the id of the new key; "" generates one. A second call with the same id fails
	// with core.CodeConflict.
	ID          string
	OrgID       string
	Name        string
	Environment core.Environment
	Scopes      core.Scopes
}

// CreateKey stores an API key and returns it with its secret, which is not stored. It fails
// with core.CodeValidationFailed for a refused name, environment or scope, and with
// core.CodeNotFound for an unknown organization.
func (l Lifecycle) CreateKey(ctx context.Context, actor Actor, n NewKey) (APIKey, string, error) {
	scopes, err := checkScopes(n.Scopes)
	if err == nil {
		err = CheckName(n.Name)
	}
	if err == nil {
		err = checkEnvironment(n.Environment)
	}
	if err != nil {
		return APIKey{}, "", err
	}
	key, secret := mintKey(n.OrgID, n.Name, n.Environment, scopes)
	key.ID = cmp.Or(n.ID, key.ID)
	if actor.Kind == Person {
		key.Owner = actor.ID
	}
	err = l.change(ctx, func(ctx context.Context, now time.Time) error {
		if _, err := l.Orgs.Org(ctx, n.OrgID); err != nil {
			return err
		}
		key.CreatedAt = now
		if err := l.Keys.InsertAPIKey(ctx, key); err != nil {
			return err
		}
		return l.record(ctx, now, AuditEntry{
			Actor: actor, Action: "api_key.created", OrgID: key.OrgID, Subject: key.ID,
			Detail: creationDetail{key.Environment, key.Scopes.Strings()},
		})
	})
	if err != nil {
		return APIKey{}, "", err
	}
	return key, secret, nil
}

// mintKey returns a new key with a random secret. It does not store the key.
func mintKey(orgID, name string, env core.Environment, scopes core.Scopes) (APIKey, string) {
	minted := MintAPIKey(env)
	return APIKey{
		ID: core.NewID(), OrgID: orgID, Name: name, Environment: env,
		Prefix: minted.Prefix, SecretHash: minted.Hash, Scopes: scopes,
	}, minted.Secret
}
