// Package admin creates what an operator gives out: organizations, their owners,
// OAuth clients and API keys. Each creation is one line of the organization's
// audit log, in the same transaction.
//
// It mints secrets and returns each once; the store keeps hashes only.
package admin

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Admin creates. It acts as the system: whoever can run it has the database.
type Admin struct {
	Store access.Store
	Tx    core.Transactor
	Clock core.Clock
}

// CreateOrg stores an organization under a fresh id. It fails with
// core.CodeConflict when the slug is taken.
func (a Admin) CreateOrg(ctx context.Context, org core.Org) (core.Org, error) {
	org.ID = core.NewID()
	err := a.audited(ctx, org.ID, "org.created", org.ID, func(ctx context.Context) error {
		return a.Store.InsertOrg(ctx, org)
	})
	return org, err
}

// CreateOwner stores a user and makes him an owner of the organization.
func (a Admin) CreateOwner(ctx context.Context, orgID, email, name, password string) (access.User, error) {
	hash, err := access.HashPassword(password)
	if err != nil {
		return access.User{}, fmt.Errorf("password: %w", err)
	}
	user := access.User{ID: core.NewID(), Email: email, Name: name, PasswordHash: hash, CreatedAt: a.Clock()}
	err = a.audited(ctx, orgID, "member.added", user.ID, func(ctx context.Context) error {
		if err := a.Store.InsertUser(ctx, user); err != nil {
			return err
		}
		return a.Store.AddMember(ctx, orgID, user.ID, "owner")
	})
	return user, err
}

// Grant is what a new credential is for.
type Grant struct {
	OrgID       string
	Name        string
	Environment core.Environment
	Scopes      core.Scopes
}

// CreateClient registers a confidential OAuth client and returns its secret.
func (a Admin) CreateClient(ctx context.Context, g Grant) (access.Client, string, error) {
	minted := access.MintClientSecret()
	client := access.Client{
		ID: core.NewID(), ClientID: access.MintClientID(g.Environment), OrgID: g.OrgID, Name: g.Name,
		Environment: g.Environment, SecretHash: minted.Hash, Scopes: g.Scopes, CreatedAt: a.Clock(),
	}
	err := a.audited(ctx, g.OrgID, "oauth_client.created", client.ID, func(ctx context.Context) error {
		return a.Store.InsertClient(ctx, client)
	})
	if err != nil {
		return access.Client{}, "", err
	}
	return client, minted.Secret, nil
}

// CreateAPIKey makes an API key and returns its secret.
func (a Admin) CreateAPIKey(ctx context.Context, g Grant) (access.APIKey, string, error) {
	minted := access.MintAPIKey(g.Environment)
	key := access.APIKey{
		ID: core.NewID(), OrgID: g.OrgID, Name: g.Name, Environment: g.Environment,
		Prefix: minted.Prefix, SecretHash: minted.Hash, Scopes: g.Scopes, CreatedAt: a.Clock(),
	}
	err := a.audited(ctx, g.OrgID, "api_key.created", key.ID, func(ctx context.Context) error {
		return a.Store.InsertAPIKey(ctx, key)
	})
	if err != nil {
		return access.APIKey{}, "", err
	}
	return key, minted.Secret, nil
}

// audited does something together with its line in the audit log.
func (a Admin) audited(ctx context.Context, orgID, action, subject string, do func(context.Context) error) error {
	return a.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return a.Store.AppendAudit(ctx, access.AuditEvent{
			ID: core.NewID(), OrgID: orgID, OccurredAt: a.Clock(), Action: action,
			ActorKind: "system", ActorID: "mailhelm", SubjectID: subject, Detail: "{}",
		})
	})
}
