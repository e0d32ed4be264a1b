package passwordchange

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/letters"
)

// Stores has what every change of a password reads and writes. All fields are required.
type Stores struct {
	Users    UserStore
	Resets   ResetStore
	Sessions SessionStore
	Devices  DeviceStore
	Audit    AuditLog
	Notices  Notices
	Tx       core.Transactor
	Clock    core.Clock
}

// Reset is a link with which a person sets a new password without the old one. The link has
// 256 random bits; only their hash is stored.
type Reset struct {
	Hash   []byte
	UserID string
	// Mark is a digest of the password hash at the time when the link was created. If the
	// password has changed since, the link is invalid.
	Mark      []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// ResetStore stores reset links. A method that returns one record fails with
// core.CodeNotFound if there is no such record. Every method takes part in the transaction
// of its context.
type ResetStore interface {
	InsertReset(ctx context.Context, r Reset) error
	// Reset returns a reset link that has not expired at now.
	Reset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	// OpenResets returns the number of a person's reset links that have not expired at now.
	OpenResets(ctx context.Context, userID string, now time.Time) (int, error)
	// TakeReset deletes a reset link that has not expired at now and returns it. Of several
	// concurrent calls, one succeeds; the others fail with core.CodeNotFound.
	TakeReset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	DeleteResetsOf(ctx context.Context, userID string) error
	// PurgeResets deletes reset links that have expired at now and returns their number. The
	// job people_purge of core/people calls it.
	PurgeResets(ctx context.Context, now time.Time) (int, error)
}

// UserStore stores people and their password hashes; the store of core/people implements
// it. Finders and changes fail with core.CodeNotFound if the person does not exist. Every
// method takes part in the transaction of its context.
type UserStore interface {
	UserByEmail(ctx context.Context, email string) (access.User, error)
	UserByID(ctx context.Context, userID string) (access.User, error)
	// HoldUser locks a person until the transaction ends. It waits for other transactions
	// that have the lock.
	HoldUser(ctx context.Context, userID string) error
	SetPassword(ctx context.Context, userID, hash string) error
}

// SessionStore ends sessions; the store of core/people implements it.
type SessionStore interface {
	// DeleteSessionsOf ends all sessions of a person. It takes part in the transaction of
	// ctx.
	DeleteSessionsOf(ctx context.Context, userID string) error
}

// DeviceStore deletes known devices; the store of core/people implements it.
type DeviceStore interface {
	// DeleteDevicesOf deletes the known devices of a person, except the one whose hash is
	// the parameter but. If but is nil, it deletes all. It takes part in the transaction of
	// ctx.
	DeleteDevicesOf(ctx context.Context, userID string, but []byte) error
}

// AuditLog records changes of passwords; core/people implements it.
type AuditLog interface {
	// AuditEverywhere adds an event to the audit log of every organization of a person. It
	// takes part in the transaction of ctx.
	AuditEverywhere(ctx context.Context, by access.Actor, userID, action, requestID string) error
}

// Notices mails people notices about their accounts; core/people implements it.
type Notices interface {
	// EnqueueNotice enqueues a job that mails a person a notice about an event. It takes
	// part in the transaction of ctx.
	EnqueueNotice(ctx context.Context, userID string, of letters.Notice, event letters.Event) error
}
