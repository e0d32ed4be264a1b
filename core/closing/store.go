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
