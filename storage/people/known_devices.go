package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// deviceRow is a browser from which a person has signed in. Only the hash of the browser's
// cookie is stored. Email is the person's address.
type deviceRow struct {
	Hash       []byte      `db:"hash"`
	UserID     string      `db:"user_id"`
	LastUsedAt engine.Time `db:"last_used_at"`
	ExpiresAt  engine.Time `db:"expires_at"`
	Email      string      `db:"email"`
}

var (
	// putDevice inserts a known device or renews it. It changes no row if the cookie hash
	// belongs to another person.
	putDevice = engine.Register("put known device", `
		INSERT INTO known_devices (hash, user_id, last_used_at, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (hash) DO UPDATE SET last_used_at = excluded.last_used_at, expires_at = excluded.expires_at
		WHERE known_devices.user_id = excluded.user_id`)
	// trimDevices deletes the devices of a person except the $2 most recently used ones. It
	// reads the index known_devices_by_user.
	trimDevices = engine.Register("trim known devices", `
		DELETE FROM known_devices WHERE user_id = $1 AND hash NOT IN (
			SELECT d.hash FROM known_devices AS d WHERE d.user_id = $1 ORDER BY d.last_used_at DESC, d.hash LIMIT $2)`)
	// deviceByHash selects a known device by the hash of its cookie. It does not return a
	// device that has expired; the purge deletes it later.
	deviceByHash = engine.RegisterPoint("known device by hash", `
		SELECT d.hash, d.user_id, d.last_used_at, d.expires_at, u.email
		FROM known_devices AS d JOIN users AS u ON u.id = d.user_id WHERE d.hash = $1 AND d.expires_at > $2`)
	deleteDevicesOf = engine.Register("delete known devices of a user", `DELETE FROM known_devices WHERE user_id = $1`)
	// deleteOtherDevicesOf deletes all devices of a person except the one that the person is
	// using.
	deleteOtherDevicesOf = engine.Register("delete other known devices of a user", `
		DELETE FROM known_devices WHERE user_id = $1 AND hash <> $2`)
	purgeDevices = engine.Register("purge known devices", `DELETE FROM known_devices WHERE expires_at <= $1`)
)

func (s peopleStore) PutDevice(ctx context.Context, d people.Device, keep int) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.db.Change(ctx, "user", putDevice, d.Hash, d.UserID, engine.At(d.LastUsedAt), engine.At(d.ExpiresAt)); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, trimDevices, d.UserID, keep)
		return err
	})
}

func (s peopleStore) Device(ctx context.Context, hash []byte, now time.Time) (people.Device, string, error) {
	row, err := engine.One[deviceRow](ctx, s.db, "device", deviceByHash, hash, engine.At(now))
	if err != nil {
		return people.Device{}, "", err
	}
	return people.Device{
		Hash: row.Hash, UserID: row.UserID, LastUsedAt: row.LastUsedAt.Time(), ExpiresAt: row.ExpiresAt.Time(),
	}, row.Email, nil
}

// DeleteDevicesOf deletes the known devices of a person. If the hash in the parameter named
// but is not empty, the device with this hash is kept. DeleteDevicesOf also succeeds if the
// person has no devices.
func (s peopleStore) DeleteDevicesOf(ctx context.Context, userID string, but []byte) error {
	if len(but) == 0 {
		_, err := s.db.Exec(ctx, deleteDevicesOf, userID)
		return err
	}
	_, err := s.db.Exec(ctx, deleteOtherDevicesOf, userID, but)
	return err
}
