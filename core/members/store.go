package members

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// OrgStore stores organizations. Methods that return or change one organization fail with
// core.CodeNotFound if it does not exist. Every method takes part in the transaction of its
// context.
type OrgStore interface {
	// InsertOrg fails with core.CodeConflict when the id or the slug is taken.
	InsertOrg(ctx context.Context, org core.Org) error
	Org(ctx context.Context, orgID string) (core.Org, error)
	// OrgBySlug returns an organization by its URL-safe name, which is unique.
	OrgBySlug(ctx context.Context, slug string) (core.Org, error)
	// OrgIDs returns the ids of all organizations except deleted ones, oldest first, for jobs
	// that process each of them.
	OrgIDs(ctx context.Context) ([]string, error)
	// SetRateLimit sets the organization's limit in calls per minute; nil removes the limit.
	SetRateLimit(ctx context.Context, orgID string, perMinute *int) error
	// SetOrgSettings replaces Name, RequireSecondFactor and PlatformMode of the organization
	// with the id org.ID.
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
	// MembershipsOf returns the memberships of a user, in order of the organizations' names,
	// those in deleted organizations last.
	MembershipsOf(ctx context.Context, userID string) ([]Member, error)
	// OrganizationsOf returns the organizations of a user, in order of their names, deleted
	// ones last.
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
	// AddMember makes a user a member with a role. It fails with core.CodeConflict if the
	// user is a member already.
	AddMember(ctx context.Context, orgID, userID, role string) error
	// SetMember adds a membership, or replaces the role and permissions of an existing one.
	SetMember(ctx context.Context, m Member) error
	RemoveMember(ctx context.Context, orgID, userID string) error
}

// Ceilings implements bearer.Ceilings, the limit on the scopes of a person's token, with
// a store of memberships.
type Ceilings struct{ Members Store }

// MemberScopes returns the [Member.Scopes] of a membership. It fails with core.CodeNotFound
// if the user is not a member.
func (c Ceilings) MemberScopes(ctx context.Context, orgID, userID string) (core.Scopes, error) {
	member, err := c.Members.Member(ctx, orgID, userID)
	if err != nil {
		return nil, err
	}
	return member.Scopes(), nil
}
