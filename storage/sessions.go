package storage

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// sessionStore is [access.SessionStore].
type sessionStore struct{ db *engineDB }

// Sessions returns the store of signed-in browsers.
func (db *DB) Sessions() access.SessionStore { return sessionStore{db.engineDB} }

type sessionRow struct {
	Hash           []byte `db:"hash"`
	UserID         string `db:"user_id"`
	OrgID          string `db:"org_id"`
	CreatedAt      Time   `db:"created_at"`
	LastSeenAt     Time   `db:"last_seen_at"`
	ExpiresAt      Time   `db:"expires_at"`
	SecondFactorAt *Time  `db:"second_factor_at"`
	Awaits         bool   `db:"awaits_second_factor"`
}

const sessionColumns = `hash, user_id, org_id, created_at, last_seen_at, expires_at, second_factor_at, awaits_second_factor`

var (
	insertSession = register("insert session", `
		INSERT INTO sessions (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`)
	sessionByHash = registerPoint("session by hash", `
		SELECT `+sessionColumns+` FROM sessions WHERE hash = $1 AND expires_at > $2`)
	touchSession = register("touch session", `
		UPDATE sessions SET last_seen_at = $1, expires_at = $2, second_factor_at = $3, org_id = $4
		WHERE hash = $5 AND user_id = $6`)
	deleteSession         = register("delete session", `DELETE FROM sessions WHERE hash = $1`)
	deleteSessionsOf      = register("delete sessions of a user", `DELETE FROM sessions WHERE user_id = $1`)
	deleteOtherSessionsOf = register("delete other sessions of a user", `
		DELETE FROM sessions WHERE user_id = $1 AND hash <> $2`)
	purgeSessions = register("purge sessions", `DELETE FROM sessions WHERE expires_at <= $1`)
)

func (s sessionStore) InsertSession(ctx context.Context, session access.Session) error {
	taken := core.Conflict("This session exists already.", "Mint another session.")
	return s.db.insert(ctx, taken, insertSession, session.Hash, session.UserID, session.OrgID, At(session.CreatedAt),
		At(session.LastSeenAt), At(session.ExpiresAt), optionalAt(session.SecondFactorAt), session.AwaitsSecondFactor)
}

func (s sessionStore) Session(ctx context.Context, hash []byte, now time.Time) (access.Session, error) {
	row, err := one[sessionRow](ctx, s.db, "session", sessionByHash, hash, At(now))
	if err != nil {
		return access.Session{}, err
	}
	return access.Session{
		Hash: row.Hash, UserID: row.UserID, OrgID: row.OrgID, CreatedAt: row.CreatedAt.Time(),
		LastSeenAt: row.LastSeenAt.Time(), ExpiresAt: row.ExpiresAt.Time(), SecondFactorAt: optionalTime(row.SecondFactorAt),
		AwaitsSecondFactor: row.Awaits,
	}, nil
}

// TouchSession fails with not_found when the session has ended in between, so
// that nobody stays signed in after a sign-out.
func (s sessionStore) TouchSession(ctx context.Context, session access.Session) error {
	return s.db.change(ctx, "session", touchSession, At(session.LastSeenAt), At(session.ExpiresAt),
		optionalAt(session.SecondFactorAt), session.OrgID, session.Hash, session.UserID)
}

// DeleteSession succeeds also when there is no such session.
func (s sessionStore) DeleteSession(ctx context.Context, hash []byte) error {
	_, err := s.db.exec(ctx, deleteSession, hash)
	return err
}

func (s sessionStore) DeleteSessionsOf(ctx context.Context, userID string) error {
	_, err := s.db.exec(ctx, deleteSessionsOf, userID)
	return err
}

func (s sessionStore) DeleteOtherSessionsOf(ctx context.Context, userID string, hash []byte) (int, error) {
	return s.db.exec(ctx, deleteOtherSessionsOf, userID, hash)
}

func (s sessionStore) PurgeSessions(ctx context.Context, now time.Time) (int, error) {
	return s.db.exec(ctx, purgeSessions, At(now))
}
