package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// factorStore is [people.FactorStore].
type factorStore struct{ db *engine.DB }

// authenticatorRow is an authenticator app. Sealed is its secret, encrypted with the master
// key. UsedStep is the last time step whose code was accepted.
type authenticatorRow struct {
	UserID      string       `db:"user_id"`
	Sealed      []byte       `db:"sealed"`
	UsedStep    int64        `db:"used_step"`
	CreatedAt   engine.Time  `db:"created_at"`
	ConfirmedAt *engine.Time `db:"confirmed_at"`
}

// authenticatorColumns lists the columns in the order of the parameters of
// setAuthenticator.
const authenticatorColumns = `user_id, sealed, used_step, created_at, confirmed_at`

var (
	// setAuthenticator inserts an authenticator app or replaces an unconfirmed one. It
	// changes no row if the person has a confirmed app.
	setAuthenticator = engine.Register("set authenticator app", `
		INSERT INTO authenticators (`+authenticatorColumns+`) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id) DO UPDATE SET sealed = excluded.sealed, used_step = excluded.used_step,
			created_at = excluded.created_at, confirmed_at = excluded.confirmed_at
		WHERE authenticators.confirmed_at IS NULL`)
	authenticatorOf = engine.RegisterPoint("authenticator app", `
		SELECT `+authenticatorColumns+` FROM authenticators WHERE user_id = $1`)
	// useStep marks the code of a time step as used. Only one of several concurrent callers
	// finds a smaller used_step. PostgreSQL tests that condition again after waiting for the
	// row lock, and SQLite has one writer at a time.
	useStep = engine.Register("use time step", `
		UPDATE authenticators SET used_step = $1, confirmed_at = COALESCE(confirmed_at, $2)
		WHERE user_id = $3 AND used_step < $1`)
	deleteAuthenticator = engine.Register("delete authenticator app", `DELETE FROM authenticators WHERE user_id = $1`)

	deleteRecoveryCodes = engine.Register("delete recovery codes", `DELETE FROM recovery_codes WHERE user_id = $1`)
	// insertRecoveryCode inserts one recovery code. It runs once for each code, because a
	// person has only a few.
	insertRecoveryCode = engine.Register("insert recovery code", `INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)`)
	// useRecoveryCode marks a recovery code as used. It changes no row if the code is
	// unknown or was used. Of concurrent callers only one finds used_at NULL.
	useRecoveryCode = engine.Register("use recovery code", `
		UPDATE recovery_codes SET used_at = $1 WHERE user_id = $2 AND hash = $3 AND used_at IS NULL`)
	recoveryCodesLeft = engine.Register("recovery codes left", `
		SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1 AND used_at IS NULL`)
)

func (s factorStore) SetAuthenticatorApp(ctx context.Context, a people.AuthenticatorApp) error {
	taken := core.Conflict("There is an authenticator app already.", "Remove it first.")
	return s.db.Insert(ctx, taken, setAuthenticator, a.UserID, a.Sealed, a.UsedStep, engine.At(a.CreatedAt), engine.OptionalAt(a.ConfirmedAt))
}

func (s factorStore) AuthenticatorApp(ctx context.Context, userID string) (people.AuthenticatorApp, error) {
	row, err := engine.One[authenticatorRow](ctx, s.db, "authenticator app", authenticatorOf, userID)
	if err != nil {
		return people.AuthenticatorApp{}, err
	}
	return people.AuthenticatorApp{
		UserID: row.UserID, Sealed: row.Sealed, UsedStep: row.UsedStep,
		CreatedAt: row.CreatedAt.Time(), ConfirmedAt: engine.OptionalTime(row.ConfirmedAt),
	}, nil
}

func (s factorStore) UseStep(ctx context.Context, userID string, step int64, confirmedAt time.Time) (bool, error) {
	taken, err := s.db.Exec(ctx, useStep, step, engine.At(confirmedAt), userID)
	return taken == 1, err
}

// DeleteAuthenticatorApp deletes the person's authenticator app. It also succeeds if the
// person has none.
func (s factorStore) DeleteAuthenticatorApp(ctx context.Context, userID string) error {
	_, err := s.db.Exec(ctx, deleteAuthenticator, userID)
	return err
}

// SetRecoveryCodes replaces all recovery codes of a person, used and unused ones.
func (s factorStore) SetRecoveryCodes(ctx context.Context, userID string, hashes [][]byte) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db.Exec(ctx, deleteRecoveryCodes, userID); err != nil {
			return err
		}
		for _, hash := range hashes {
			if _, err := s.db.Exec(ctx, insertRecoveryCode, userID, hash); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s factorStore) UseRecoveryCode(ctx context.Context, userID string, hash []byte, at time.Time) (bool, error) {
	used, err := s.db.Exec(ctx, useRecoveryCode, engine.At(at), userID, hash)
	return used == 1, err
}

func (s factorStore) RecoveryCodesLeft(ctx context.Context, userID string) (int, error) {
	counted, err := engine.Values[int](ctx, s.db, recoveryCodesLeft, userID)
	if err != nil || len(counted) == 0 {
		return 0, err
	}
	return counted[0], nil
}
