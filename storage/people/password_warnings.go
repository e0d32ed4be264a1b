package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// warn stores the time of a person's last password warning. It changes no row if the
	// stored warning is later than $3.
	warn = engine.Register("warn about passwords", `
		INSERT INTO password_warnings (user_id, warned_at) VALUES ($1, $2)
		ON CONFLICT (user_id) DO UPDATE SET warned_at = excluded.warned_at WHERE password_warnings.warned_at <= $3`)
	warnedAt = engine.RegisterPoint("last warning about passwords", `SELECT warned_at FROM password_warnings WHERE user_id = $1`)
	// purgeWarnings deletes warnings that are so old that they no longer prevent another
	// warning.
	purgeWarnings = engine.Register("purge warnings about passwords", `DELETE FROM password_warnings WHERE warned_at < $1`)
)

// Warn stores that a person is warned about wrong passwords, at the time in the parameter
// at. It returns false if the person was already warned after the time in the parameter
// since. If several callers warn a person at once, only one of them gets true.
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
