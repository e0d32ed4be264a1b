package storage

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// peopleStore is [people.Store].
type peopleStore struct{ db *engine.DB }

// People returns the store of reset links, known devices and warnings.
func (db *DB) People() people.Store { return peopleStore{db.DB} }

var _ people.Store = peopleStore{}

type resetRow struct {
	Hash      []byte      `db:"hash"`
	UserID    string      `db:"user_id"`
	Mark      []byte      `db:"password_mark"`
	CreatedAt engine.Time `db:"created_at"`
	ExpiresAt engine.Time `db:"expires_at"`
}

type deviceRow struct {
	Hash       []byte      `db:"hash"`
	UserID     string      `db:"user_id"`
	LastUsedAt engine.Time `db:"last_used_at"`
	ExpiresAt  engine.Time `db:"expires_at"`
	Email      string      `db:"email"`
}

const resetColumns = `hash, user_id, password_mark, created_at, expires_at`

var (
	insertReset = engine.Register("insert password reset", `
		INSERT INTO password_resets (`+resetColumns+`) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	resetByHash = engine.RegisterPoint("password reset by hash", `
		SELECT `+resetColumns+` FROM password_resets WHERE hash = $1 AND expires_at > $2`)
	openResets = engine.Register("open password resets", `
		SELECT COUNT(*) FROM password_resets WHERE user_id = $1 AND expires_at > $2`)
	takeReset = engine.Register("take password reset", `
		DELETE FROM password_resets WHERE hash = $1 AND expires_at > $2 RETURNING `+resetColumns)
	deleteResetsOf = engine.Register("delete password resets of a user", `DELETE FROM password_resets WHERE user_id = $1`)

	putDevice = engine.Register("put known device", `
		INSERT INTO known_devices (hash, user_id, last_used_at, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (hash) DO UPDATE SET last_used_at = excluded.last_used_at, expires_at = excluded.expires_at
		WHERE known_devices.user_id = excluded.user_id`)
	trimDevices = engine.Register("trim known devices", `
		DELETE FROM known_devices WHERE user_id = $1 AND hash NOT IN (
			SELECT d.hash FROM known_devices AS d WHERE d.user_id = $1 ORDER BY d.last_used_at DESC, d.hash LIMIT $2)`)
	deviceByHash = engine.RegisterPoint("known device by hash", `
		SELECT d.hash, d.user_id, d.last_used_at, d.expires_at, u.email
		FROM known_devices AS d JOIN users AS u ON u.id = d.user_id WHERE d.hash = $1 AND d.expires_at > $2`)
	deleteDevicesOf      = engine.Register("delete known devices of a user", `DELETE FROM known_devices WHERE user_id = $1`)
	deleteOtherDevicesOf = engine.Register("delete other known devices of a user", `
		DELETE FROM known_devices WHERE user_id = $1 AND hash <> $2`)

	warn = engine.Register("warn about passwords", `
		INSERT INTO password_warnings (user_id, warned_at) VALUES ($1, $2)
		ON CONFLICT (user_id) DO UPDATE SET warned_at = excluded.warned_at WHERE password_warnings.warned_at <= $3`)
	warnedAt = engine.RegisterPoint("last warning about passwords", `SELECT warned_at FROM password_warnings WHERE user_id = $1`)

	purgeResets   = engine.Register("purge password resets", `DELETE FROM password_resets WHERE expires_at <= $1`)
	purgeDevices  = engine.Register("purge known devices", `DELETE FROM known_devices WHERE expires_at <= $1`)
	purgeWarnings = engine.Register("purge warnings about passwords", `DELETE FROM password_warnings WHERE warned_at < $1`)
)

func (s peopleStore) InsertReset(ctx context.Context, r people.Reset) error {
	taken := core.Conflict("This link of a reset exists already.", "Mint another link.")
	return s.db.Insert(ctx, taken, insertReset, r.Hash, r.UserID, r.Mark, engine.At(r.CreatedAt), engine.At(r.ExpiresAt))
}

func (s peopleStore) Reset(ctx context.Context, hash []byte, now time.Time) (people.Reset, error) {
	return s.reset(ctx, resetByHash, hash, now)
}

// TakeReset deletes and returns a reset link. Of concurrent callers one receives it.
func (s peopleStore) TakeReset(ctx context.Context, hash []byte, now time.Time) (people.Reset, error) {
	return s.reset(ctx, takeReset, hash, now)
}

func (s peopleStore) reset(ctx context.Context, by *engine.Statement, hash []byte, now time.Time) (people.Reset, error) {
	row, err := engine.One[resetRow](ctx, s.db, "password reset", by, hash, engine.At(now))
	if err != nil {
		return people.Reset{}, err
	}
	return people.Reset{
		Hash: row.Hash, UserID: row.UserID, Mark: row.Mark, CreatedAt: row.CreatedAt.Time(), ExpiresAt: row.ExpiresAt.Time(),
	}, nil
}

func (s peopleStore) OpenResets(ctx context.Context, userID string, now time.Time) (int, error) {
	counted, err := engine.Values[int](ctx, s.db, openResets, userID, engine.At(now))
	if err != nil || len(counted) == 0 {
		return 0, err
	}
	return counted[0], nil
}

// DeleteResetsOf deletes all reset links of a person. It succeeds if there are none.
func (s peopleStore) DeleteResetsOf(ctx context.Context, userID string) error {
	_, err := s.db.Exec(ctx, deleteResetsOf, userID)
	return err
}

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

// DeleteDevicesOf deletes all known devices of a person except but, if but is not empty.
// It succeeds if there are none.
func (s peopleStore) DeleteDevicesOf(ctx context.Context, userID string, but []byte) error {
	if len(but) == 0 {
		_, err := s.db.Exec(ctx, deleteDevicesOf, userID)
		return err
	}
	_, err := s.db.Exec(ctx, deleteOtherDevicesOf, userID, but)
	return err
}

func (s peopleStore) Warn(ctx context.Context, userID string, at, since time.Time) (bool, error) {
	warned, err := s.db.Exec(ctx, warn, userID, engine.At(at), engine.At(since))
	return warned == 1, err
}

func (s peopleStore) WarnedAt(ctx context.Context, userID string) (time.Time, error) {
	found, err := engine.Values[engine.Time](ctx, s.db, warnedAt, userID)
	if err == nil && len(found) == 0 {
		err = core.NotFound("warning")
	}
	if err != nil {
		return time.Time{}, err
	}
	return found[0].Time(), nil
}

func (s peopleStore) Purge(ctx context.Context, now, warnings time.Time) (int, error) {
	purged := 0
	for _, one := range []struct {
		of     *engine.Statement
		before time.Time
	}{{purgeResets, now}, {purgeDevices, now}, {purgeWarnings, warnings}} {
		gone, err := s.db.Exec(ctx, one.of, engine.At(one.before))
		if err != nil {
			return purged, err
		}
		purged += gone
	}
	return purged, nil
}
