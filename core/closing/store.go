package closing

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// TableRows is a number of rows of one database table.
type TableRows struct {
	Table string `json:"table"`
	Rows  int    `json:"rows"`
}

// PersonStore changes what the database has about one person. Every method takes part in the
// transaction of its context.
type PersonStore interface {
	// SetDisabled stores since when the person may not sign in; nil means that the person may
	// sign in. It fails with core.CodeNotFound for an unknown person.
	SetDisabled(ctx context.Context, userID string, at *time.Time) error
	// EndSignIns deletes the sessions, the open passkey ceremonies and the reset links of a
	// person. It returns the number of sessions.
	EndSignIns(ctx context.Context, userID string) (int, error)
	// CountRows returns the numbers of rows that DeleteRows would delete, in the same order. It
	// includes tables without such rows.
	CountRows(ctx context.Context, userID string) ([]TableRows, error)
	// DeleteRows deletes the person, and every row that belongs to the person alone. It
	// returns the numbers of deleted rows by table.
	DeleteRows(ctx context.Context, userID string) ([]TableRows, error)
}

// Users finds and locks people; the store of core/people implements it.
type Users interface {
	// UserByID fails with core.CodeNotFound for an unknown id.
	UserByID(ctx context.Context, userID string) (access.User, error)
	// HoldUser locks a person until the transaction ends, so that no session begins at the
	// same time. It fails with core.CodeNotFound for an unknown id.
	HoldUser(ctx context.Context, userID string) error
}

// Members reads memberships; the store of core/members implements it.
type Members interface {
	MembershipsOf(ctx context.Context, userID string) ([]members.Member, error)
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
	Members(ctx context.Context, orgID string) ([]members.Member, error)
	// HoldMembers locks the members of an organization until the transaction ends.
	HoldMembers(ctx context.Context, orgID string) error
}

// Grants reads and revokes the grants of people to clients; the store of core/access
// implements it.
type Grants interface {
	Grants(ctx context.Context, orgID string, f access.GrantFilter) ([]access.Grant, error)
	// RevokeGrantsOfUser revokes all grants of a person in an organization and returns their
	// ids.
	RevokeGrantsOfUser(ctx context.Context, orgID, userID string, at time.Time) ([]string, error)
}

// Keys lists and revokes API keys. The store of core/access lists them, access.Lifecycle
// revokes them.
type Keys struct {
	List interface {
		APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error)
	}
	Revoke func(ctx context.Context, actor access.Actor, orgID, id string) (access.APIKey, error)
}

// Forgetter removes cached principals (authenticated callers); bearer.Authenticator
// implements it.
type Forgetter interface {
	// ForgetUser removes the cached principals of all tokens that act for a person.
	ForgetUser(userID string)
	// Forget removes the cached principals of a stored credential, by its id.
	Forget(credentialID string)
}

// OrgStore changes what the database has about one organization. Every method takes part in
// the transaction of its context.
type OrgStore interface {
	// SetDeleted stores the time at which an organization was deleted; nil restores it.
	SetDeleted(ctx context.Context, orgID string, at *time.Time) error
	// WithdrawRoutes makes the receivers of mail refuse mail for the organization's domains.
	WithdrawRoutes(ctx context.Context, orgID string) error
	// RestoreRoutes undoes WithdrawRoutes.
	RestoreRoutes(ctx context.Context, orgID string) error
	// BeginErasing marks an organization that was deleted at or before a time, so that it can
	// no longer be restored. It returns false if there is no such organization.
	BeginErasing(ctx context.Context, orgID string, before, now time.Time) (bool, error)
	// IsErasing reports whether BeginErasing marked the organization.
	IsErasing(ctx context.Context, orgID string) (bool, error)
	// DeletedOrgs returns the ids of the organizations that were deleted at or before a time,
	// the earliest first.
	DeletedOrgs(ctx context.Context, before time.Time) ([]string, error)

	// Tables returns the names of all tables with rows of organizations, in the order in which
	// they must be erased.
	Tables() []string
	// CountRows returns the number of the organization's rows by table, in the order of Tables.
	// It includes tables without such rows.
	CountRows(ctx context.Context, orgID string) ([]TableRows, error)
	// EraseRows deletes at most limit rows of the organization from one of the Tables. It returns the number of deleted rows.
	EraseRows(ctx context.Context, table, orgID string, limit int) (int, error)
	// EraseJobs deletes the queued jobs of the organization that are not running, and returns
	// their number.
	EraseJobs(ctx context.Context, orgID string) (int, error)
	// EraseOrg deletes the organization itself. Its slug can be used again.
	EraseOrg(ctx context.Context, orgID string) error
}

// Orgs finds organizations; the store of core/members implements it.
type Orgs interface {
	// Org fails with core.CodeNotFound for an unknown id.
	Org(ctx context.Context, orgID string) (core.Org, error)
}

// OrgMembers reads and locks the members of an organization; the store of core/members
// implements it.
type OrgMembers interface {
	// Member fails with core.CodeNotFound if the user does not belong to the organization.
	Member(ctx context.Context, orgID, userID string) (members.Member, error)
	HoldMembers(ctx context.Context, orgID string) error
}
