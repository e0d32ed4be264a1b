// Package admin creates what an operator gives out: organizations, people in them,
// OAuth clients and API keys. Each creation is one line of the organization's
// audit log, in the same transaction.
//
// It returns each secret once; the store keeps hashes only. What becomes of keys
// and clients later is the business of access.Lifecycle, which also makes them.
package admin

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/passwords"
	"github.com/mailhelm/mailhelm/core/people"
)

// Admin creates. Whoever can run it has the database, so nothing is refused.
type Admin struct {
	Stores  access.Stores
	Orgs    members.OrgStore
	Users   people.UserStore
	Members members.Store
	Tx      core.Transactor
	Clock   core.Clock
	// Actor is who the audit log names; the zero value is the installation itself.
	Actor access.Actor
}

// installation is the actor of what a program sets up by itself.
var installation = access.Actor{Kind: "system", ID: "mailhelm"}

func (a Admin) actor() access.Actor { return cmp.Or(a.Actor, installation) }

// Lifecycle is what can be done with API keys and clients.
func (a Admin) Lifecycle() access.Lifecycle {
	return access.Lifecycle{Stores: a.Stores, Orgs: a.Orgs, Transactor: a.Tx, Clock: a.Clock}
}

// CreateOrg stores an organization under a fresh id, with the retention of its tier. It
// fails with core.CodeConflict when the slug is taken.
func (a Admin) CreateOrg(ctx context.Context, org core.Org) (core.Org, error) {
	org.ID, org.RetentionDays = core.NewID(), core.RetentionOf(org.Tier)
	err := a.audited(ctx, org.ID, "org.created", org.ID, func(ctx context.Context) error {
		return a.Orgs.InsertOrg(ctx, org)
	})
	return org, err
}

// SetRateLimit sets or clears (nil) an organization's calls a minute.
func (a Admin) SetRateLimit(ctx context.Context, orgID string, perMinute *int) error {
	return a.audited(ctx, orgID, "org.limit_set", orgID, func(ctx context.Context) error {
		return a.Orgs.SetRateLimit(ctx, orgID, perMinute)
	})
}

// CreateOwner stores a user and makes him an owner of the organization.
func (a Admin) CreateOwner(ctx context.Context, orgID, email, name, password string) (access.User, error) {
	return a.CreateUser(ctx, NewUser{OrgID: orgID, Role: members.Owner, Email: email, Name: name, Password: password})
}

// NewUser is a person to create. OrgID may be "": the person then belongs to no
// organization yet.
type NewUser struct {
	OrgID, Email, Name, Password string
	Role                         members.Role // in the organization
}

// CreateUser stores a user and makes him a member of the organization, if one is
// named. It fails with core.CodeConflict when the address is taken, and with
// core.CodeValidationFailed for a password that cannot be.
func (a Admin) CreateUser(ctx context.Context, n NewUser) (access.User, error) {
	if err := passwords.CheckNew(n.Password, n.Email); err != nil {
		return access.User{}, err
	}
	hash, err := passwords.Hash(n.Password)
	if err != nil {
		return access.User{}, fmt.Errorf("password: %w", err)
	}
	user := access.User{ID: core.NewID(), Email: n.Email, Name: n.Name, PasswordHash: hash, CreatedAt: a.Clock()}
	err = a.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := a.Users.InsertUser(ctx, user); err != nil || n.OrgID == "" {
			return err
		}
		return a.AddMember(ctx, n.OrgID, user.ID, n.Role)
	})
	return user, err
}

// AddMember makes a user a member of an organization. It fails with
// core.CodeConflict when the user is one already.
func (a Admin) AddMember(ctx context.Context, orgID, userID string, role members.Role) error {
	return a.audited(ctx, orgID, "member.added", userID, func(ctx context.Context) error {
		// Grants from an earlier membership must not come back.
		if _, err := a.Stores.Grants.RevokeGrantsOfUser(ctx, orgID, userID, a.Clock()); err != nil {
			return err
		}
		return a.Members.AddMember(ctx, orgID, userID, string(role))
	})
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
	return a.Lifecycle().CreateClient(ctx, a.actor(), access.NewClient{
		OrgID: g.OrgID, Name: g.Name, Environment: g.Environment, Scopes: g.Scopes,
	})
}

// CreateAPIKey makes an API key and returns its secret.
func (a Admin) CreateAPIKey(ctx context.Context, g Grant) (access.APIKey, string, error) {
	return a.Lifecycle().CreateKey(ctx, a.actor(), access.NewKey{
		OrgID: g.OrgID, Name: g.Name, Environment: g.Environment, Scopes: g.Scopes,
	})
}

// audited does something together with its line in the audit log.
func (a Admin) audited(ctx context.Context, orgID, action, subject string, do func(context.Context) error) error {
	return a.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return a.Stores.Audit.AppendAudit(ctx, access.AuditEvent{
			ID: core.NewID(), OrgID: orgID, OccurredAt: a.Clock(), Action: action,
			ActorKind: a.actor().Kind, ActorID: a.actor().ID, SubjectID: subject, Detail: "{}",
		})
	})
}
