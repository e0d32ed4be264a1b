package members

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Memberships has the operations on members, invitations and settings of an organization.
// Each operation writes its changes and its audit entry in one transaction. The transaction
// locks the organization, so that concurrent operations cannot remove all owners.
//
// Each operation fails with invalid_scope if the actor lacks the permission for it. An
// operator may do everything. A person may do what the membership permits at that moment.
type Memberships struct {
	Orgs        OrgStore
	Members     Store
	Invitations InvitationStore
	Users       Accounts
	Grants      GrantRevoker
	Audit       access.AuditAppender
	Transactor  core.Transactor
	Clock       core.Clock
	// Principals removes cached principals (authenticated callers) in this process, so that
	// their next request reads the store. It is nil in a process that authenticates no
	// callers. Other processes may use a cached principal for five seconds after a change.
	// On PostgreSQL, notifications usually shorten this to one second.
	Principals Forgetter
}

// Accounts finds and creates the accounts of people. The store of core/people implements
// it.
type Accounts interface {
	// UserByEmail fails with core.CodeNotFound for an unknown address.
	UserByEmail(ctx context.Context, email string) (access.User, error)
	InsertUser(ctx context.Context, u access.User) error
}

// GrantRevoker revokes grants of people to OAuth clients. The store of core/access
// implements it.
type GrantRevoker interface {
	// RevokeGrantsOfUser revokes all grants of a person in an organization and
	// returns their ids.
	RevokeGrantsOfUser(ctx context.Context, orgID, userID string, at time.Time) ([]string, error)
}

// Forgetter removes cached principals (authenticated callers); bearer.Authenticator
// implements it.
type Forgetter interface {
	// ForgetUser removes the cached principals of all tokens that act for a person.
	ForgetUser(userID string)
	// ForgetOrg removes the cached principals of all credentials of an organization.
	ForgetOrg(orgID string)
}

// change calls the function do in a transaction in which the organization is locked.
func (m Memberships) change(ctx context.Context, orgID string, do func(ctx context.Context, now time.Time) error) error {
	return m.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := m.Members.HoldMembers(ctx, orgID); err != nil {
			return err
		}
		return do(ctx, m.Clock())
	})
}

// Require checks that the actor has the permission. It fails with invalid_scope otherwise.
// It locks the organization until the transaction of ctx ends, so that the permission
// cannot be removed before that. Call it before anything else in a transaction.
func (m Memberships) Require(ctx context.Context, actor access.Actor, orgID string, p Permission) error {
	if err := m.Members.HoldMembers(ctx, orgID); err != nil {
		return err
	}
	may, err := m.authority(ctx, orgID, actor)
	if err != nil {
		return err
	}
	return may.need(p)
}

// RequireMember fails with invalid_scope if the actor does not belong to the organization.
// It locks the organization until the transaction of ctx ends.
func (m Memberships) RequireMember(ctx context.Context, actor access.Actor, orgID string) error {
	if err := m.Members.HoldMembers(ctx, orgID); err != nil {
		return err
	}
	may, err := m.authority(ctx, orgID, actor)
	if err == nil && !may.unlimited && may.member.UserID == "" {
		return permissionError("You do not belong to this organization.", "Ask a member who manages its members to invite you.")
	}
	return err
}

// forgetUser removes the cached principals of a person's tokens.
func (m Memberships) forgetUser(userID string) {
	if m.Principals != nil {
		m.Principals.ForgetUser(userID)
	}
}

func (m Memberships) record(ctx context.Context, now time.Time, e access.AuditEntry) error {
	return access.RecordAudit(ctx, m.Audit, now, e)
}

// authority has the permissions that an actor has in an organization at one moment.
type authority struct {
	unlimited bool // true for an operator, who may do everything
	member    Member
}

// authority returns the permissions of the actor. For a person who does not belong to the
// organization, it returns the zero value.
func (m Memberships) authority(ctx context.Context, orgID string, actor access.Actor) (authority, error) {
	switch actor.Kind {
	case access.Operator:
		return authority{unlimited: true}, nil
	case access.Person:
		member, err := m.Members.Member(ctx, orgID, actor.ID)
		if core.IsNotFound(err) {
			return authority{}, nil
		}
		return authority{member: member}, err
	}
	return authority{}, nil
}

func (a authority) owns() bool { return a.unlimited || a.member.Role == Owner }

func (a authority) has(p Permission) bool { return a.unlimited || a.member.Has(p) }

// need fails with invalid_scope if the actor lacks the permission.
func (a authority) need(p Permission) error {
	if a.has(p) {
		return nil
	}
	return permissionError(fmt.Sprintf("You lack the permission %s in this organization.", p),
		"Ask a member who manages its members to give you the permission.")
}

// mayGive fails with invalid_scope if the role is Owner and the actor is neither an owner
// nor the operator. It also fails with invalid_scope if the actor does not have one of the
// permissions.
func (a authority) mayGive(role Role, permissions []Permission) error {
	if role == Owner && !a.owns() {
		return ownersOnlyError()
	}
	for _, p := range permissions {
		if !a.has(p) {
			return permissionError(fmt.Sprintf("You do not have the permission %s, so you cannot give it.", p),
				"Ask a member who has it, or an owner.")
		}
	}
	return nil
}

func ownersOnlyError() error {
	return permissionError("Only an owner can make a member an owner, or change or remove an owner.", "Ask an owner.")
}

func permissionError(message, next string) error {
	return &core.Error{Code: core.CodeInvalidScope, Message: message, Next: next}
}

// requireOtherOwner fails with core.CodeConflict if the member in the parameter without is
// the only owner of the organization. The caller must have locked the organization.
func (m Memberships) requireOtherOwner(ctx context.Context, without Member) error {
	members, err := m.Members.Members(ctx, without.OrgID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(members, func(o Member) bool { return o.Role == Owner && o.UserID != without.UserID }) {
		return nil
	}
	return core.Conflict("This is the last owner of the organization.", "Make another member an owner first.")
}

// permissionDiff is the audit detail of a change of permissions: the added and the removed
// ones, sorted.
type permissionDiff struct {
	Added   []Permission `json:"added"`
	Removed []Permission `json:"removed"`
}

func diffPermissions(before, after []Permission) permissionDiff {
	lacking := func(from, other []Permission) []Permission {
		rest := []Permission{}
		for _, p := range from {
			if !slices.Contains(other, p) {
				rest = append(rest, p)
			}
		}
		slices.Sort(rest)
		return rest
	}
	return permissionDiff{Added: lacking(after, before), Removed: lacking(before, after)}
}

// maxQuoted is how many characters of an unknown permission an error message quotes.
const maxQuoted = 100

// checkPermissions returns the permissions sorted and without duplicates. It fails with
// core.CodeValidationFailed for a permission that Mailhelm does not define.
func checkPermissions(given []Permission) ([]Permission, error) {
	for _, p := range given {
		if !slices.Contains(permissions, p) {
			return nil, core.Invalid("permissions", fmt.Sprintf("contains %q, which is not a permission", core.Quotable(string(p), maxQuoted)))
		}
	}
	return slices.Compact(sortPermissions(slices.Clone(given)...)), nil
}

func checkRole(role Role) error {
	if role != Owner && role != PlainMember {
		return core.Invalid("role", "must be owner or member")
	}
	return nil
}
