package people

import (
	"context"
	"time"
)

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

// Store stores known devices and warnings. A method that returns one record fails with
// core.CodeNotFound if there is no such record. Every method takes part in the transaction
// of its context.
type Store interface {
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

	// Purge deletes devices that have expired at now. It also deletes warnings from before
	// the time in the parameter warnings. It returns the number of deleted rows.
	Purge(ctx context.Context, now, warnings time.Time) (int, error)
}
