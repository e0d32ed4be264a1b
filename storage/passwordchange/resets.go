package passwordchange

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// resetStore is [passwordchange.ResetStore].
type resetStore struct{ db *engine.DB }

// New returns the store of password reset links.
func New(db *engine.DB) passwordchange.ResetStore { return resetStore{db} }

// resetRow is an open password reset link. Mark is a digest of the password hash at the
// time of creation, so that the link stops working when the password changes.
type resetRow struct {
	Hash      []byte      `db:"hash"`
	UserID    string      `db:"user_id"`
	Mark      []byte      `db:"password_mark"`
	CreatedAt engine.Time `db:"created_at"`
	ExpiresAt engine.Time `db:"expires_at"`
}

// resetColumns lists the columns in the order of the parameters of insertReset.
const resetColumns = `hash, user_id, password_mark, created_at, expires_at`

var (
	// insertReset inserts a password reset link. It changes nothing if a link with the hash
	// exists.
	insertReset = engine.Register("insert password reset", `
		INSERT INTO password_resets (`+resetColumns+`) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	resetByHash = engine.RegisterPoint("password reset by hash", `
		SELECT `+resetColumns+` FROM password_resets WHERE hash = $1 AND expires_at > $2`)
	// openResets counts the open password reset links of one person, because their number is
	// limited. It reads the index password_resets_by_user.
	openResets = engine.Register("open password resets", `
		SELECT COUNT(*) FROM password_resets WHERE user_id = $1 AND expires_at > $2`)
	// takeReset deletes and returns a password reset link in one statement, so that a link
	// works only once. It does not find an expired link.
	takeReset = engine.Register("take password reset", `
		DELETE FROM password_resets WHERE hash = $1 AND expires_at > $2 RETURNING `+resetColumns)
	deleteResetsOf = engine.Register("delete password resets of a user", `DELETE FROM password_resets WHERE user_id = $1`)
	purgeResets    = engine.Register("purge password resets", `DELETE FROM password_resets WHERE expires_at <= $1`)
)

func (s resetStore) InsertReset(ctx context.Context, r passwordchange.Reset) error {
	taken := core.Conflict("This link of a reset exists already.", "Mint another link.")
	return s.db.Insert(ctx, taken, insertReset, r.Hash, r.UserID, r.Mark, engine.At(r.CreatedAt), engine.At(r.ExpiresAt))
}

func (s resetStore) Reset(ctx context.Context, hash []byte, now time.Time) (passwordchange.Reset, error) {
	return s.reset(ctx, resetByHash, hash, now)
}

// TakeReset deletes a password reset link and returns it. Of concurrent callers only one
// gets it. The other callers get NotFound, and so does a caller with an expired link.
func (s resetStore) TakeReset(ctx context.Context, hash []byte, now time.Time) (passwordchange.Reset, error) {
	return s.reset(ctx, takeReset, hash, now)
}

// reset returns the password reset link with this hash, selected by the given statement. It
// fails with NotFound if the statement finds no link.
func (s resetStore) reset(ctx context.Context, by *engine.Statement, hash []byte, now time.Time) (passwordchange.Reset, error) {
	row, err := engine.One[resetRow](ctx, s.db, "password reset", by, hash, engine.At(now))
	if err != nil {
		return passwordchange.Reset{}, err
	}
	return passwordchange.Reset{
		Hash: row.Hash, UserID: row.UserID, Mark: row.Mark, CreatedAt: row.CreatedAt.Time(), ExpiresAt: row.ExpiresAt.Time(),
	}, nil
}

func (s resetStore) OpenResets(ctx context.Context, userID string, now time.Time) (int, error) {
	counted, err := engine.Values[int](ctx, s.db, openResets, userID, engine.At(now))
	if err != nil || len(counted) == 0 {
		return 0, err
	}
	return counted[0], nil
}

// DeleteResetsOf deletes all password reset links of a person. It also succeeds if the
// person has none.
func (s resetStore) DeleteResetsOf(ctx context.Context, userID string) error {
	_, err := s.db.Exec(ctx, deleteResetsOf, userID)
	return err
}

func (s resetStore) PurgeResets(ctx context.Context, now time.Time) (int, error) {
	return s.db.Exec(ctx, purgeResets, engine.At(now))
}
