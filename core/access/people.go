package access

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Session is a signed-in browser. The cookie holds 256 random bits; only their
// hash is stored.
type Session struct {
	Hash   []byte
	UserID string
	// OrgID is the organization the person works in at the moment.
	OrgID      string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
	// SecondFactorAt is when the person last proved a second factor in this
	// session; nil means never. Sensitive steps ask for a recent one.
	SecondFactorAt *time.Time
	// AwaitsSecondFactor is true between the password and the second factor. Such a
	// session lets nobody in.
	AwaitsSecondFactor bool
}

// SessionStore keeps sessions. Finders fail with core.CodeNotFound.
type SessionStore interface {
	InsertSession(ctx context.Context, s Session) error
	// Session finds one that has not expired at now.
	Session(ctx context.Context, hash []byte, now time.Time) (Session, error)
	// TouchSession moves LastSeenAt and ExpiresAt, switches the organization and
	// records a second factor: it stores what s says for the session with s.Hash.
	TouchSession(ctx context.Context, s Session) error
	DeleteSession(ctx context.Context, hash []byte) error
	// DeleteSessionsOf ends every session of a person: sign-out everywhere.
	DeleteSessionsOf(ctx context.Context, userID string) error
	// DeleteOtherSessionsOf ends every session of a person but the one with this
	// hash, and returns how many.
	DeleteOtherSessionsOf(ctx context.Context, userID string, hash []byte) (int, error)
	PurgeSessions(ctx context.Context, now time.Time) (int, error)
}

// MemberStore keeps who belongs to which organization with which permissions.
type MemberStore interface {
	// Member fails with core.CodeNotFound when the user does not belong to it.
	Member(ctx context.Context, orgID, userID string) (Member, error)
	Members(ctx context.Context, orgID string) ([]Member, error)
	// HoldMembers waits until nobody else holds the organization, and holds it until
	// the transaction ends. It fails with core.CodeNotFound for an unknown one.
	HoldMembers(ctx context.Context, orgID string) error
	// MembershipsOf lists the organizations of a user, by name of organization.
	MembershipsOf(ctx context.Context, userID string) ([]Member, error)
	// OrganizationsOf are the organizations themselves, in the same order.
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
	SetMember(ctx context.Context, m Member) error
	RemoveMember(ctx context.Context, orgID, userID string) error
	UserByID(ctx context.Context, userID string) (User, error)
}
