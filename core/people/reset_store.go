package people

import (
	"context"
	"time"
)

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

// DeviceLifetime is how long after a sign-in its device counts as known.
const DeviceLifetime = 180 * 24 * time.Hour

// Device is a browser in which a person signed in. Its cookie has 256 random bits; only
// their hash is stored.
type Device struct {
	Hash       []byte
	UserID     string
	LastUsedAt time.Time
	ExpiresAt  time.Time
}

// Store stores reset links, known devices and warnings. A method that returns one record
// fails with core.CodeNotFound if there is no such record. Every method takes part in the
// transaction of its context.
type Store interface {
	InsertReset(ctx context.Context, r Reset) error
	// Reset returns a reset link that has not expired at now.
	Reset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	// OpenResets returns the number of a person's reset links that have not expired at now.
	OpenResets(ctx context.Context, userID string, now time.Time) (int, error)
	// TakeReset deletes a reset link that has not expired at now and returns it. Of several
	// concurrent calls, one succeeds; the others fail with core.CodeNotFound.
	TakeReset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	DeleteResetsOf(ctx context.Context, userID string) error

	// PutDevice stores a device, or updates its time of last use and its expiry. The
	// parameter keep is the maximum number of devices of one person; those used least
	// recently are deleted.
	PutDevice(ctx context.Context, d Device, keep int) error
	// Device returns the device with this hash, if it has not expired at now. It also
	// returns the email address of the person who owns the device.
	Device(ctx context.Context, hash []byte, now time.Time) (d Device, email string, err error)
	// DeleteDevicesOf deletes the known devices of a person, except the one whose hash is
	// the parameter but. If but is nil, it deletes all.
	DeleteDevicesOf(ctx context.Context, userID string, but []byte) error

	// Warn stores that a person is warned; at is the time of the warning. If the person was
	// already warned after the time in the parameter since, Warn stores nothing and returns
	// false. Of several concurrent calls, one gets true.
	Warn(ctx context.Context, userID string, at, since time.Time) (bool, error)
	// WarnedAt returns the time at which Warn last stored a warning of the person. It fails
	// with core.CodeNotFound if there was no warning.
	WarnedAt(ctx context.Context, userID string) (time.Time, error)

	// Purge deletes reset links and devices that have expired at now. It also deletes
	// warnings from before the time in the parameter warnings. It returns the number of
	// deleted rows.
	Purge(ctx context.Context, now, warnings time.Time) (int, error)
}
