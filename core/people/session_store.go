package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
)

// UserStore stores people and their password hashes. Finders and changes fail with
// core.CodeNotFound if the person does not exist. Every method takes part in the
// transaction of its context.
type UserStore interface {
	// InsertUser fails with core.CodeConflict if the id or the email address is taken.
	InsertUser(ctx context.Context, u access.User) error
	UserByEmail(ctx context.Context, email string) (access.User, error)
	UserByID(ctx context.Context, userID string) (access.User, error)
	// HoldUser locks a person until the transaction ends. It waits for other transactions
	// that have the lock. A change of a person's sessions or second factors needs the lock,
	// because it writes several rows.
	HoldUser(ctx context.Context, userID string) error
	SetPassword(ctx context.Context, userID, hash string) error
}

// Session is a session of a person in a browser. The cookie has 256 random bits; only their
// hash is stored.
type Session struct {
	Hash   []byte
	UserID string
	// OrgID is the organization whose pages the person is using.
	OrgID      string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
	// SecondFactorAt is the time when the person last proved a second factor in this
	// session; nil means never. Sensitive actions require a recent proof.
	SecondFactorAt *time.Time
	// AwaitsSecondFactor is true between the password and the second factor. Such a session
	// can open only the page that asks for the second factor.
	AwaitsSecondFactor bool
}

// SessionStore stores sessions. A method that returns one session fails with
// core.CodeNotFound if there is no such session. Every method takes part in the transaction
// of its context.
type SessionStore interface {
	InsertSession(ctx context.Context, s Session) error
	// Session returns the session with this hash, unless the session has expired at the time
	// now.
	Session(ctx context.Context, hash []byte, now time.Time) (Session, error)
	// TouchSession finds the stored session by its hash s.Hash and updates it from s. It
	// replaces LastSeenAt, ExpiresAt, the organization and the time of the second factor. It
	// fails with core.CodeNotFound if the session has ended.
	TouchSession(ctx context.Context, s Session) error
	DeleteSession(ctx context.Context, hash []byte) error
	// DeleteSessionsOf ends all sessions of a person.
	DeleteSessionsOf(ctx context.Context, userID string) error
	// DeleteOtherSessionsOf ends all sessions of a person except the one with this hash, and
	// returns the number of ended sessions.
	DeleteOtherSessionsOf(ctx context.Context, userID string, hash []byte) (int, error)
	PurgeSessions(ctx context.Context, now time.Time) (int, error)
}

// Memberships finds memberships. The store of core/members implements it.
type Memberships interface {
	// Member fails with core.CodeNotFound if the user does not belong to the organization.
	Member(ctx context.Context, orgID, userID string) (members.Member, error)
	// MembershipsOf returns the memberships of a user, in order of the organizations' names,
	// those in deleted organizations last.
	MembershipsOf(ctx context.Context, userID string) ([]members.Member, error)
	// OrganizationsOf returns the organizations of a user, in order of their names, deleted
	// ones last.
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
}
