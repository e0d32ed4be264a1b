package people

import (
	"context"
	"time"
)

// Reset is the offer to set a new password without the old one. Its link holds 256
// random bits; only their hash is stored.
type Reset struct {
	Hash   []byte
	UserID string
	// Mark is a digest of the password hash that the person had when the link was
	// made. With another password the link is worth nothing.
	Mark      []byte
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Device is a browser in which a person signed in. Its cookie holds 256 random bits;
// only their hash is stored.
type Device struct {
	Hash       []byte
	UserID     string
	LastUsedAt time.Time
	ExpiresAt  time.Time
}

// Store keeps links of resets, known devices and warnings. Finders fail
// with core.CodeNotFound. Every method takes part in the transaction of its context.
type Store interface {
	InsertReset(ctx context.Context, r Reset) error
	// Reset finds one that has not expired at now.
	Reset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	// OpenResets counts a person's that have not expired at now.
	OpenResets(ctx context.Context, userID string, now time.Time) (int, error)
	// TakeReset finds one that has not expired at now, and deletes it: of any number
	// of concurrent callers one gets it.
	TakeReset(ctx context.Context, hash []byte, now time.Time) (Reset, error)
	DeleteResetsOf(ctx context.Context, userID string) error

	// PutDevice stores a device, or its last use and end, and deletes the person's
	// least recently used ones beyond keep.
	PutDevice(ctx context.Context, d Device, keep int) error
	// Device finds one that has not expired at now, with its person's address.
	Device(ctx context.Context, hash []byte, now time.Time) (d Device, email string, err error)
	// DeleteDevicesOf forgets a person's devices but the one with this hash, which may
	// be nil.
	DeleteDevicesOf(ctx context.Context, userID string, but []byte) error

	// Warn records that a person is warned at a time, and reports false when there was
	// a warning after since: of any number of concurrent callers one gets true.
	Warn(ctx context.Context, userID string, at, since time.Time) (bool, error)
	// WarnedAt is when a person was last warned. It fails with core.CodeNotFound for a
	// person who never was.
	WarnedAt(ctx context.Context, userID string) (time.Time, error)

	// Purge forgets what expired by now, and warnings of before the time given.
	Purge(ctx context.Context, now, warnings time.Time) (int, error)
}
