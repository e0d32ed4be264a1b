package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// sessionStore is [people.SessionStore].
type sessionStore struct{ db *engine.DB }

// sessionRow is the session of a signed-in browser. Only the hash of its cookie is stored.
// Awaits is true until the person has entered the second factor.
type sessionRow struct {
	Hash           []byte       `db:"hash"`
	UserID         string       `db:"user_id"`
	OrgID          string       `db:"org_id"`
	CreatedAt      engine.Time  `db:"created_at"`
	LastSeenAt     engine.Time  `db:"last_seen_at"`
	ExpiresAt      engine.Time  `db:"expires_at"`
	SecondFactorAt *engine.Time `db:"second_factor_at"`
	Awaits         bool         `db:"awaits_second_factor"`
}

// sessionColumns lists the columns in the order of the parameters of insertSession.
const sessionColumns = `hash, user_id, org_id, created_at, last_seen_at, expires_at, second_factor_at, awaits_second_factor`

var (
	insertSession = engine.Register("insert session", `
		INSERT INTO sessions (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`)
	// sessionByHash selects a session by the hash of its cookie. It runs for every request
	// of a dashboard page. It does not return a session that has expired; the purge deletes
	// the session later.
	sessionByHash = engine.RegisterPoint("session by hash", `
		SELECT `+sessionColumns+` FROM sessions WHERE hash = $1 AND expires_at > $2`)
	// touchSession sets when a session was last used, when it expires, when its second
	// factor was proved, and its organization. It changes no row if the session was deleted.
	touchSession = engine.Register("touch session", `
		UPDATE sessions SET last_seen_at = $1, expires_at = $2, second_factor_at = $3, org_id = $4
		WHERE hash = $5 AND user_id = $6`)
	deleteSession    = engine.Register("delete session", `DELETE FROM sessions WHERE hash = $1`)
	deleteSessionsOf = engine.Register("delete sessions of a user", `DELETE FROM sessions WHERE user_id = $1`)
	// deleteOtherSessionsOf deletes all sessions of a person except the one that the person
	// is using.
	deleteOtherSessionsOf = engine.Register("delete other sessions of a user", `
		DELETE FROM sessions WHERE user_id = $1 AND hash <> $2`)
	purgeSessions = engine.Register("purge sessions", `DELETE FROM sessions WHERE expires_at <= $1`)
)

func (s sessionStore) InsertSession(ctx context.Context, session people.Session) error {
	taken := core.Conflict("This session exists already.", "Mint another session.")
	return s.db.Insert(ctx, taken, insertSession, session.Hash, session.UserID, session.OrgID, engine.At(session.CreatedAt),
		engine.At(session.LastSeenAt), engine.At(session.ExpiresAt), engine.OptionalAt(session.SecondFactorAt), session.AwaitsSecondFactor)
}

func (s sessionStore) Session(ctx context.Context, hash []byte, now time.Time) (people.Session, error) {
	row, err := engine.One[sessionRow](ctx, s.db, "session", sessionByHash, hash, engine.At(now))
	if err != nil {
		return people.Session{}, err
	}
	return people.Session{
		Hash: row.Hash, UserID: row.UserID, OrgID: row.OrgID, CreatedAt: row.CreatedAt.Time(),
		LastSeenAt: row.LastSeenAt.Time(), ExpiresAt: row.ExpiresAt.Time(), SecondFactorAt: engine.OptionalTime(row.SecondFactorAt),
		AwaitsSecondFactor: row.Awaits,
	}, nil
}

// TouchSession updates the times and the organization of a session. If the session was
// deleted it fails with NotFound, because storing it again would undo a sign-out.
func (s sessionStore) TouchSession(ctx context.Context, session people.Session) error {
	return s.db.Change(ctx, "session", touchSession, engine.At(session.LastSeenAt), engine.At(session.ExpiresAt),
		engine.OptionalAt(session.SecondFactorAt), session.OrgID, session.Hash, session.UserID)
}

// DeleteSession deletes the session with the hash. It also succeeds if there is no such
// session.
func (s sessionStore) DeleteSession(ctx context.Context, hash []byte) error {
	_, err := s.db.Exec(ctx, deleteSession, hash)
	return err
}

func (s sessionStore) DeleteSessionsOf(ctx context.Context, userID string) error {
	_, err := s.db.Exec(ctx, deleteSessionsOf, userID)
	return err
}

func (s sessionStore) DeleteOtherSessionsOf(ctx context.Context, userID string, hash []byte) (int, error) {
	return s.db.Exec(ctx, deleteOtherSessionsOf, userID, hash)
}

func (s sessionStore) PurgeSessions(ctx context.Context, now time.Time) (int, error) {
	return s.db.Exec(ctx, purgeSessions, engine.At(now))
}
