package members

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// OrgStore stores organizations. Finders fail with core.CodeNotFound. Every method takes
// part in the transaction of its context.
type OrgStore interface {
	// InsertOrg fails with core.CodeConflict when the id or the slug is taken.
	InsertOrg(ctx context.Context, org core.Org) error
	Org(ctx context.Context, orgID string) (core.Org, error)
	// OrgBySlug returns an organization by its URL-safe name, which is unique.
	OrgBySlug(ctx context.Context, slug string) (core.Org, error)
	// OrgIDs lists every organization, oldest first, for jobs that visit all.
	OrgIDs(ctx context.Context) ([]string, error)
	// SetRateLimit sets or clears (nil) the plan's calls a minute.
	SetRateLimit(ctx context.Context, orgID string, perMinute *int) error
	// SetOrgSettings replaces the name, the requirement of second factors and platform mode
	// of the organization with the ID of org.
	SetOrgSettings(ctx context.Context, org core.Org) error
}

// Store stores memberships: which users belong to which organization, with which role and
// permissions. Every method takes part in the transaction of its context.
type Store interface {
	// Member returns a membership. It fails with core.CodeNotFound when the user does not
	// belong to the organization.
	Member(ctx context.Context, orgID, userID string) (Member, error)
	Members(ctx context.Context, orgID string) ([]Member, error)
	// HoldMembers locks the members of an organization until the transaction ends. It waits
	// for other transactions that have the lock. It fails with core.CodeNotFound for an
	// unknown organization.
	HoldMembers(ctx context.Context, orgID string) error
	// MembershipsOf lists the memberships of a user, by name of organization.
	MembershipsOf(ctx context.Context, userID string) ([]Member, error)
	// OrganizationsOf lists the organizations of a user in the same order.
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
	// AddMember makes a user a member with a role. It fails with core.CodeConflict
	// for a user who is a member already.
	AddMember(ctx context.Context, orgID, userID, role string) error
	// SetMember adds a member or replaces the role and permissions of one.
	SetMember(ctx context.Context, m Member) error
	RemoveMember(ctx context.Context, orgID, userID string) error
}

// Ceilings implements [access.Ceilings] with a store of memberships.
type Ceilings struct{ Members Store }

// MemberScopes returns [Member.Scopes] of a member.
func (c Ceilings) MemberScopes(ctx context.Context, orgID, userID string) (core.Scopes, error) {
	member, err := c.Members.Member(ctx, orgID, userID)
	if err != nil {
		return nil, err
	}
	return member.Scopes(), nil
}
