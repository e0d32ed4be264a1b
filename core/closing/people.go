package closing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// People disables, enables and deletes people. Each operation and its audit entries are one
// transaction that locks the person. It checks no permission: its callers are the operator,
// and a person who deletes their own account after a proof of identity.
type People struct {
	Store      PersonStore
	Users      Users
	Members    Members
	Grants     Grants
	Keys       Keys
	Audit      access.AuditAppender
	Transactor core.Transactor
	Clock      core.Clock
	// Principals removes cached principals in this process. It is nil in a process that
	// authenticates no callers. Other processes may use a cached principal for five seconds
	// after a change. On PostgreSQL, notifications usually shorten this to one second.
	Principals Forgetter
}

// Access is the access that a person had when the account was disabled or deleted.
type Access struct {
	User access.User
	// Sessions and Grants are the numbers of sessions and grants to applications that ended.
	Sessions, Grants int
	// Keys are the working API keys that the person created. They belong to the organizations
	// and stay valid unless KeysRevoked is true.
	Keys        []access.APIKey
	KeysRevoked bool
	// Organizations are the person's organizations, in order of their names. LastOwnerOf are
	// those in which no other enabled owner is left.
	Organizations, LastOwnerOf []core.Org
}

// Options are the choices of an operation.
type Options struct {
	// RevokeKeys revokes the API keys that the person created.
	RevokeKeys bool
	RequestID  string
}

// look returns the present access of a person. It changes nothing.
func (p People) look(ctx context.Context, userID string, now time.Time) (Access, error) {
	user, err := p.Users.UserByID(ctx, userID)
	if err != nil {
		return Access{}, err
	}
	a := Access{User: user}
	if a.Organizations, err = p.Members.OrganizationsOf(ctx, userID); err != nil {
		return Access{}, fmt.Errorf("organizations: %w", err)
	}
	for _, org := range a.Organizations {
		if err := p.lookAt(ctx, &a, org, now); err != nil {
			return Access{}, fmt.Errorf("access in %s: %w", org.Slug, err)
		}
	}
	return a, nil
}

// lookAt adds a person's access in one organization to a.
func (p People) lookAt(ctx context.Context, a *Access, org core.Org, now time.Time) error {
	last, err := p.isLastOwner(ctx, org.ID, a.User.ID)
	if err != nil {
		return err
	}
	if last {
		a.LastOwnerOf = append(a.LastOwnerOf, org)
	}
	keys, err := p.Keys.List.APIKeysOf(ctx, org.ID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if state := k.StateAt(now); k.Owner == a.User.ID && (state == access.KeyActive || state == access.KeyInGrace) {
			a.Keys = append(a.Keys, k)
		}
	}
	grants, err := p.Grants.Grants(ctx, org.ID, access.GrantFilter{UserID: a.User.ID, Limit: countedGrants})
	a.Grants += len(grants)
	return err
}

// countedGrants is the maximum number of grants in one organization that a dry run counts.
const countedGrants = 10_000

// isLastOwner reports whether a person is an owner of an organization and no other owner may
// sign in.
func (p People) isLastOwner(ctx context.Context, orgID, userID string) (bool, error) {
	all, err := p.Members.Members(ctx, orgID)
	if err != nil {
		return false, err
	}
	owns := false
	for _, m := range all {
		switch {
		case m.Role != members.Owner:
		case m.UserID == userID:
			owns = true
		default:
			other, err := p.Users.UserByID(ctx, m.UserID)
			if core.IsNotFound(err) || err == nil && other.DisabledAt != nil {
				continue
			}
			return false, err
		}
	}
	return owns, nil
}

// hold locks a person and, in order of their ids, the person's organizations, so that no
// session begins and no owner leaves until the transaction ends.
func (p People) hold(ctx context.Context, userID string) error {
	if err := p.Users.HoldUser(ctx, userID); err != nil {
		return err
	}
	memberships, err := p.Members.MembershipsOf(ctx, userID)
	if err != nil {
		return fmt.Errorf("memberships: %w", err)
	}
	slices.SortFunc(memberships, func(a, b members.Member) int { return cmp.Compare(a.OrgID, b.OrgID) })
	for _, m := range memberships {
		if err := p.Members.HoldMembers(ctx, m.OrgID); err != nil {
			return fmt.Errorf("organization of a person: %w", err)
		}
	}
	return nil
}

// endAccess ends sessions and grants of a person, and revokes the API keys that the person
// created if o.RevokeKeys is true. It sets the numbers in a.
func (p People) endAccess(ctx context.Context, actor access.Actor, a *Access, o Options, now time.Time) error {
	var err error
	if a.Sessions, err = p.Store.EndSignIns(ctx, a.User.ID); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	a.Grants = 0
	for _, org := range a.Organizations {
		ended, err := p.Grants.RevokeGrantsOfUser(ctx, org.ID, a.User.ID, now)
		if err != nil {
			return fmt.Errorf("revoke grants: %w", err)
		}
		a.Grants += len(ended)
	}
	if !o.RevokeKeys {
		return nil
	}
	a.KeysRevoked = true
	for _, k := range a.Keys {
		if _, err := p.Keys.Revoke(ctx, actor, k.OrgID, k.ID); err != nil {
			return fmt.Errorf("revoke API key: %w", err)
		}
	}
	return nil
}

// forget removes the cached principals of a person's tokens and revoked keys.
func (p People) forget(a Access) {
	if p.Principals == nil {
		return
	}
	p.Principals.ForgetUser(a.User.ID)
	if a.KeysRevoked {
		for _, k := range a.Keys {
			p.Principals.Forget(k.ID)
		}
	}
}

// record adds an event about a person to the audit log of each organization.
func (p People) record(ctx context.Context, now time.Time, actor access.Actor, a Access, action string, o Options) error {
	var surface core.Surface
	if actor.Kind == access.Person {
		surface = appSurface
	}
	for _, org := range a.Organizations {
		err := p.Audit.AppendAudit(ctx, access.AuditEvent{
			ID: core.NewID(), OrgID: org.ID, OccurredAt: now, Action: action, ActorKind: actor.Kind, ActorID: actor.ID,
			Surface: surface, SubjectID: a.User.ID, RequestID: o.RequestID, Detail: "{}",
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// appSurface is the surface of the dashboard's pages in the audit log.
const appSurface core.Surface = "app"

// lastOwnerError returns the refusal to delete the last owner of these organizations.
func lastOwnerError(orgs []core.Org) error {
	names := make([]string, len(orgs))
	for i, org := range orgs {
		names[i] = org.Name + " (" + org.Slug + ")"
	}
	return core.Conflict("This person is the last owner of "+strings.Join(names, ", ")+".",
		"Make another member an owner first, or delete the organization.")
}
