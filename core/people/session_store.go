package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// UserStore stores people and their password hashes. Finders and changes fail with
// core.CodeNotFound. Every method takes part in the transaction of its context.
type UserStore interface {
	// InsertUser fails with core.CodeConflict when the id or the address is taken.
	InsertUser(ctx context.Context, u access.User) error
	UserByEmail(ctx context.Context, email string) (access.User, error)
	UserByID(ctx context.Context, userID string) (access.User, error)
	// HoldUser locks a person until the transaction ends. It waits for other transactions
	// that have the lock. It is needed because the sessions and factors of one person are
	// several rows.
	HoldUser(ctx context.Context, userID string) error
	SetPassword(ctx context.Context, userID, hash string) error
}

// Session is a session of a person in a browser. The cookie has 256 random bits; only their
// hash is stored.
type Session struct {
	Hash   []byte
	UserID string
	// OrgID is the organization that the person works in now.
	OrgID      string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
	// SecondFactorAt is when the person last proved a second factor in this session; nil
	// means never. Sensitive steps require a recent proof.
	SecondFactorAt *time.Time
	// AwaitsSecondFactor is true between the password and the second factor. Such a
	// session gives access to no page but that of the factor.
	AwaitsSecondFactor bool
}

// SessionStore stores sessions. Finders fail with core.CodeNotFound. Every method takes part
// in the transaction of its context.
type SessionStore interface {
	InsertSession(ctx context.Context, s Session) error
	// Session returns a session that has not expired at now.
	Session(ctx context.Context, hash []byte, now time.Time) (Session, error)
	// TouchSession replaces LastSeenAt, ExpiresAt, the organization and the second factor of
	// the session with s.Hash. It fails with core.CodeNotFound for a session that has ended.
	TouchSession(ctx context.Context, s Session) error
	DeleteSession(ctx context.Context, hash []byte) error
	// DeleteSessionsOf ends every session of a person: sign-out everywhere.
	DeleteSessionsOf(ctx context.Context, userID string) error
	// DeleteOtherSessionsOf ends every session of a person but the one with this
	// hash, and returns how many.
	DeleteOtherSessionsOf(ctx context.Context, userID string, hash []byte) (int, error)
	PurgeSessions(ctx context.Context, now time.Time) (int, error)
}

// Memberships finds memberships; core/members has the store.
type Memberships interface {
	// Member fails with core.CodeNotFound when the user does not belong to the organization.
	Member(ctx context.Context, orgID, userID string) (members.Member, error)
	// MembershipsOf lists the memberships of a user, by name of organization.
	MembershipsOf(ctx context.Context, userID string) ([]members.Member, error)
	// OrganizationsOf lists the organizations of a user in the same order.
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
}
