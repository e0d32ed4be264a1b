package storage

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
)

// replayStore is [replay.Store].
type replayStore struct{ db *DB }

type replayRow struct {
	Digest    string `db:"digest"`
	Done      bool   `db:"done"`
	Result    []byte `db:"result"`
	ExpiresAt Time   `db:"expires_at"`
}

var (
	// On PostgreSQL an insert alone would wait for a transaction that is about to
	// complete the record; the look before it does not.
	reserveFree = register("reserve free key", `
		INSERT INTO replay_records (org_id, space, key, digest, token, done, result, expires_at)
		SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS text), CAST($4 AS text), CAST($5 AS text), false, NULL, CAST($6 AS bigint)
		WHERE NOT EXISTS (SELECT 1 FROM replay_records WHERE org_id = $1 AND space = $2 AND key = $3)
		ON CONFLICT DO NOTHING`)
	replayRecord = register("replay record", `
		SELECT digest, done, result, expires_at FROM replay_records WHERE org_id = $1 AND space = $2 AND key = $3`)
	// A reservation may be taken over while its owner's transaction is about to
	// complete it. The row's lock lets one of the two go first, and the conditions
	// on expires_at here and on token there decide for that one.
	reserveExpired = register("reserve expired key", `
		UPDATE replay_records SET digest = $1, token = $2, done = false, result = NULL, expires_at = $3
		WHERE org_id = $4 AND space = $5 AND key = $6 AND expires_at <= $7`)
	completeReplay = register("complete replay", `
		UPDATE replay_records SET done = true, result = $1, expires_at = $2
		WHERE org_id = $3 AND space = $4 AND key = $5 AND token = $6 AND NOT done`)
	releaseReplay = register("release replay", `
		DELETE FROM replay_records WHERE org_id = $1 AND space = $2 AND key = $3 AND token = $4 AND NOT done`)
	purgeReplay = register("purge replay records", `DELETE FROM replay_records WHERE expires_at <= $1`)

	spendConfirmation = register("spend confirmation", `
		INSERT INTO spent_confirmations (org_id, confirmation_id, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`)
	purgeConfirmations = register("purge confirmations", `DELETE FROM spent_confirmations WHERE expires_at <= $1`)
)

// Reserve tries to insert, reads what is there instead, and takes it over when it
// has expired. It begins again when the record changed in between.
func (s replayStore) Reserve(ctx context.Context, k replay.Key, digest string, now time.Time) (replay.Record, bool, error) {
	if s.db.transaction(ctx) != nil {
		return replay.Record{}, false, errInTransaction
	}
	mine := replay.Record{Token: replay.Token(core.NewID()), Digest: digest}
	for range maxAttempts {
		inserted, err := s.db.exec(ctx, reserveFree, k.OrgID, k.Space, k.Key, digest, string(mine.Token), At(now.Add(replay.Lease)))
		if err != nil || inserted == 1 {
			return s.reserved(ctx, k, mine, err)
		}
		found, err := list[replayRow](ctx, s.db, replayRecord, k.OrgID, k.Space, k.Key)
		if err != nil {
			return replay.Record{}, false, err
		}
		if len(found) == 0 {
			continue
		}
		if found[0].ExpiresAt > At(now) {
			return replay.Record{Digest: found[0].Digest, Done: found[0].Done, Result: found[0].Result}, false, nil
		}
		taken, err := s.db.exec(ctx, reserveExpired, digest, string(mine.Token), At(now.Add(replay.Lease)), k.OrgID, k.Space, k.Key, At(now))
		if err != nil || taken == 1 {
			return s.reserved(ctx, k, mine, err)
		}
	}
	return replay.Record{}, false, errors.New("storage: reserve: the record changed at every attempt")
}

// reserved is the outcome of a statement that reserves. Where it failed, it may have
// been carried out all the same, as for a caller who left just then: the key is given
// back, for nobody knows the token.
func (s replayStore) reserved(ctx context.Context, k replay.Key, mine replay.Record, err error) (replay.Record, bool, error) {
	if err == nil {
		return mine, true, nil
	}
	return replay.Record{}, false, errors.Join(err, s.Release(context.WithoutCancel(ctx), k, mine.Token))
}

func (s replayStore) Complete(ctx context.Context, k replay.Key, token replay.Token, result []byte, _, expires time.Time) error {
	completed, err := s.db.exec(ctx, completeReplay, result, At(expires), k.OrgID, k.Space, k.Key, string(token))
	if err != nil {
		return err
	}
	if completed == 0 {
		return core.Conflict("The call took so long that another call with its idempotency key took over.",
			"Repeat the call with the same key to get the other call's result.")
	}
	return nil
}

func (s replayStore) Release(ctx context.Context, k replay.Key, token replay.Token) error {
	_, err := s.db.exec(ctx, releaseReplay, k.OrgID, k.Space, k.Key, string(token))
	return err
}

func (s replayStore) Spend(ctx context.Context, orgID, confirmationID string, expires time.Time) (bool, error) {
	spent, err := s.db.exec(ctx, spendConfirmation, orgID, confirmationID, At(expires))
	return spent == 1, err
}

func (s replayStore) Purge(ctx context.Context, now time.Time) (int, error) {
	records, err := s.db.exec(ctx, purgeReplay, At(now))
	if err != nil {
		return 0, err
	}
	confirmations, err := s.db.exec(ctx, purgeConfirmations, At(now))
	return records + confirmations, err
}
