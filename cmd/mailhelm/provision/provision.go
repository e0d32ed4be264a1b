// Package provision creates organizations, people in them, OAuth clients and API keys for
// an operator, for the demo and for tests. It records each change in the organization's
// audit log, in the same transaction.
//
// It returns each new secret once; the database keeps only hashes. It creates clients and
// keys through access.Lifecycle.
package provision

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

// Provisioner creates organizations, people, OAuth clients and API keys. It checks no
// permissions, because its callers have access to the whole database.
type Provisioner struct {
	Stores  access.Stores
	Orgs    members.OrgStore
	Users   people.UserStore
	Members members.Store
	Tx      core.Transactor
	Clock   core.Clock
	// Actor is the actor that the audit log names. The zero value means Mailhelm itself.
	Actor access.Actor
}

// installation is the actor in the audit log for changes that Mailhelm makes on its own.
var installation = access.Actor{Kind: "system", ID: "mailhelm"}

// actor returns p.Actor. If that is the zero value, it returns the actor for Mailhelm
// itself.
func (p Provisioner) actor() access.Actor { return cmp.Or(p.Actor, installation) }

// Lifecycle returns the functions that create, change and revoke API keys and OAuth
// clients.
func (p Provisioner) Lifecycle() access.Lifecycle {
	return access.Lifecycle{Stores: p.Stores, Orgs: p.Orgs, Transactor: p.Tx, Clock: p.Clock}
}

// CreateOrg stores an organization with a new id. Its tier determines for how many days
// analytics are kept. It fails with core.CodeConflict if the slug is taken.
func (p Provisioner) CreateOrg(ctx context.Context, org core.Org) (core.Org, error) {
	org.ID, org.RetentionDays = core.NewID(), core.RetentionOf(org.Tier)
	err := p.audit(ctx, org.ID, "org.created", org.ID, func(ctx context.Context) error {
		return p.Orgs.InsertOrg(ctx, org)
	})
	return org, err
}

// SetRateLimit sets how many calls per minute the organization may make; nil means no
// limit. It does not check the number. A running server applies the change within five
// seconds.
func (p Provisioner) SetRateLimit(ctx context.Context, orgID string, perMinute *int) error {
	return p.audit(ctx, orgID, "org.limit_set", orgID, func(ctx context.Context) error {
		return p.Orgs.SetRateLimit(ctx, orgID, perMinute)
	})
}

// CreateOwner stores a person as an owner of the organization. It fails with
// core.CodeConflict if the email address is taken, and with core.CodeValidationFailed for
// an unacceptable password.
func (p Provisioner) CreateOwner(ctx context.Context, orgID, email, name, password string) (access.User, error) {
	return p.CreateUser(ctx, NewUser{OrgID: orgID, Role: members.Owner, Email: email, Name: name, Password: password})
}

// NewUser is a person to create. If OrgID is "", the person belongs to no organization, and
// Role has no effect.
type NewUser struct {
	OrgID, Email, Name, Password string
	Role                         members.Role // in the organization
}

// CreateUser stores a person, and makes the person a member of the organization n.OrgID
// unless that is "". It fails with core.CodeConflict if the email address is taken, and
// with core.CodeValidationFailed for an unacceptable password.
func (p Provisioner) CreateUser(ctx context.Context, n NewUser) (access.User, error) {
	if err := passwords.CheckNew(n.Password, n.Email); err != nil {
		return access.User{}, err
	}
	hash, err := passwords.Hash(n.Password)
	if err != nil {
		return access.User{}, fmt.Errorf("password: %w", err)
	}
	user := access.User{ID: core.NewID(), Email: n.Email, Name: n.Name, PasswordHash: hash, CreatedAt: p.Clock()}
	err = p.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := p.Users.InsertUser(ctx, user); err != nil || n.OrgID == "" {
			return err
		}
		return p.AddMember(ctx, n.OrgID, user.ID, n.Role)
	})
	return user, err
}

// AddMember adds a person to an organization and revokes grants from an earlier membership.
// A person with the role member has no permissions at first. It fails with
// core.CodeConflict if the person is already a member.
func (p Provisioner) AddMember(ctx context.Context, orgID, userID string, role members.Role) error {
	return p.audit(ctx, orgID, "member.added", userID, func(ctx context.Context) error {
		// Grants from an earlier membership must not become valid again.
		if _, err := p.Stores.Grants.RevokeGrantsOfUser(ctx, orgID, userID, p.Clock()); err != nil {
			return err
		}
		return p.Members.AddMember(ctx, orgID, userID, string(role))
	})
}

// Grant describes an API key or OAuth client to create with CreateAPIKey or CreateClient.
type Grant struct {
	OrgID       string
	Name        string
	Environment core.Environment
	Scopes      core.Scopes
}

// CreateClient registers a confidential OAuth client and returns its secret, which cannot
// be read again. The client has no redirect URI, so it can use only the client credentials
// grant.
func (p Provisioner) CreateClient(ctx context.Context, g Grant) (access.Client, string, error) {
	return p.Lifecycle().CreateClient(ctx, p.actor(), access.NewClient{
		OrgID: g.OrgID, Name: g.Name, Environment: g.Environment, Scopes: g.Scopes,
	})
}

// CreateAPIKey creates an API key and returns its secret, which cannot be read again. The
// name of the key need not be unique.
func (p Provisioner) CreateAPIKey(ctx context.Context, g Grant) (access.APIKey, string, error) {
	return p.Lifecycle().CreateKey(ctx, p.actor(), access.NewKey{
		OrgID: g.OrgID, Name: g.Name, Environment: g.Environment, Scopes: g.Scopes,
	})
}

// audit calls do and appends an event to the organization's audit log, in one transaction.
// If do or the append fails, nothing is stored. If ctx carries a transaction, audit uses
// that transaction, and after an error the caller must roll it back.
func (p Provisioner) audit(ctx context.Context, orgID, action, subject string, do func(context.Context) error) error {
	return p.Tx.InTx(ctx, func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		return p.Stores.Audit.AppendAudit(ctx, access.AuditEvent{
			ID: core.NewID(), OrgID: orgID, OccurredAt: p.Clock(), Action: action,
			ActorKind: p.actor().Kind, ActorID: p.actor().ID, SubjectID: subject, Detail: "{}",
		})
	})
}
