package people

import (
	"context"
	"time"
)

// Reset is a link that sets a new password without the old one. The link has 256 random
// bits; only their hash is stored.
type Reset struct {
	Hash   []byte
	UserID string
	// Mark is a digest of the password hash at the time the link was made. After a
	// change of the password the link is void.
	Mark      []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// DeviceLifetime is how long a device is known after a sign-in on it.
const DeviceLifetime = 180 * 24 * time.Hour

// Device is a browser in which a person signed in. Its cookie has 256 random bits; only
// their hash is stored.
type Device struct {
	Hash       []byte
	UserID     string
	LastUsedAt time.Time
	ExpiresAt  time.Time
}

// Store stores reset links, known devices and warnings. Finders fail with core.CodeNotFound.
// Every method takes part in the transaction of its context.
type Store interface {
	InsertReset(ctx context.Context, r Reset) error
	// Reset returns a reset link that has not expired at now.
	Reset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	// OpenResets counts a person's links that have not expired at now.
	OpenResets(ctx context.Context, userID string, now time.Time) (int, error)
	// TakeReset deletes a reset link that has not expired at now and returns it. Of any
	// number of concurrent callers, one gets it.
	TakeReset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	DeleteResetsOf(ctx context.Context, userID string) error

	// PutDevice stores a device, or its last use and expiry. It deletes the person's least
	// recently used devices beyond keep.
	PutDevice(ctx context.Context, d Device, keep int) error
	// Device returns a device that has not expired at now, with its person's address.
	Device(ctx context.Context, hash []byte, now time.Time) (d Device, email string, err error)
	// DeleteDevicesOf deletes a person's devices, except the one with this hash; nil means
	// all.
	DeleteDevicesOf(ctx context.Context, userID string, but []byte) error

	// Warn stores a warning of a person. It returns false if there was one after since, so
	// of any number of concurrent callers one gets true.
	Warn(ctx context.Context, userID string, at, since time.Time) (bool, error)
	// WarnedAt returns when a person was last warned. It fails with core.CodeNotFound
	// for a person without a warning.
	WarnedAt(ctx context.Context, userID string) (time.Time, error)

	// Purge deletes links and devices that expired by now, and warnings from before the
	// given time.
	Purge(ctx context.Context, now, warnings time.Time) (int, error)
}
