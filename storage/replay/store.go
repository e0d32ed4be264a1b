package replay

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores results of calls by idempotency key, and used confirmation tokens.
type Store struct{ db *engine.DB }

var _ replay.Store = Store{}

// New returns the store of call results and used confirmation tokens in the given database.
func New(db *engine.DB) Store { return Store{db} }

// maxReservations is the maximum number of times that one call of Reserve tries to reserve
// the key.
const maxReservations = 6

// replayRow is the stored row of an idempotency key. While a call runs, the row reserves
// the key for that call. Once Done is true, Result is the call's result. Token identifies
// the call. Process identifies the server process that runs the call.
type replayRow struct {
	Digest    string      `db:"digest"`
	Token     string      `db:"token"`
	Process   string      `db:"process"`
	Done      bool        `db:"done"`
	Result    []byte      `db:"result"`
	ExpiresAt engine.Time `db:"expires_at"`
}

// holds reports whether the row keeps a call with this claim from reserving the idempotency
// key. It returns false if the row has expired at the time now, or if it is the reservation
// that the claim takes over.
func (r replayRow) holds(claim replay.Claim, now time.Time) bool {
	return r.ExpiresAt > engine.At(now) && (r.Done || claim.From == "" || r.Token != string(claim.From))
}

// record converts the row to a replay.Record: with the result of a finished call, or with
// the token and process of a running call.
func (r replayRow) record() replay.Record {
	if r.Done {
		return replay.Record{Digest: r.Digest, Done: true, Result: r.Result}
	}
	return replay.Record{Digest: r.Digest, Holder: replay.Token(r.Token), Process: r.Process}
}

var (
	// reserveFree inserts a reservation if the idempotency key has no row. Without NOT
	// EXISTS the insert would wait, on PostgreSQL, for a transaction that is completing the
	// key.
	reserveFree = engine.Register("reserve free key", `
		INSERT INTO replay_records (org_id, space, key, digest, token, process, done, result, expires_at)
		SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS text), CAST($4 AS text), CAST($5 AS text), CAST($6 AS text), false, NULL, CAST($7 AS bigint)
		WHERE NOT EXISTS (SELECT 1 FROM replay_records WHERE org_id = $1 AND space = $2 AND key = $3)
		ON CONFLICT DO NOTHING`)
	// replayRecord reads the row of an idempotency key without a lock, so it never waits for
	// the call that has reserved the key.
	replayRecord = engine.Register("replay record", `
		SELECT digest, token, process, done, result, expires_at FROM replay_records WHERE org_id = $1 AND space = $2 AND key = $3`)
	// reserveHeld takes over a key if its row has expired, or if it is reserved with the
	// token $9. The call that holds the token $9 may run completeReplay at the same time.
	// The row lock makes one statement wait for the other. The statement that waited changes
	// nothing, because its condition is then false.
	reserveHeld = engine.Register("reserve held key", `
		UPDATE replay_records SET digest = $1, token = $2, process = $3, done = false, result = NULL, subject = NULL, called_at = NULL, expires_at = $4
		WHERE org_id = $5 AND space = $6 AND key = $7 AND (expires_at <= $8 OR token = $9 AND NOT done)`)
	// completeReplay stores the result of a call under its idempotency key. It changes no
	// row if another call has taken over the key.
	completeReplay = engine.Register("complete replay", `
		UPDATE replay_records SET done = true, result = $1, expires_at = $2, caller = $3, subject = $4, called_at = $5
		WHERE org_id = $6 AND space = $7 AND key = $8 AND token = $9 AND NOT done`)
	// releaseReplay deletes a call's reservation of an idempotency key, but never a result.
	releaseReplay = engine.Register("release replay", `
		DELETE FROM replay_records WHERE org_id = $1 AND space = $2 AND key = $3 AND token = $4 AND NOT done`)
	// supersedeReplays deletes the results that are stored for replaying the caller's
	// earlier writes to the records $3, through the partial index replay_records_subject.
	supersedeReplays = engine.Register("supersede replays", `
		DELETE FROM replay_records WHERE org_id = $1 AND caller = $2 AND subject IS NOT NULL AND done
		AND subject IN (SELECT j.atom FROM json_each(CAST($3 AS text)) AS j)`)
	// supersedeOneReplay deletes the results that are stored for replaying the caller's
	// earlier writes to one record. Most writes change one record, and for them this
	// statement needs no JSON parameter.
	supersedeOneReplay = engine.Register("supersede replays of one subject", `
		DELETE FROM replay_records WHERE org_id = $1 AND caller = $2 AND subject = $3 AND done`)
	supersedeAllReplays = engine.Register("supersede all replays", `
		DELETE FROM replay_records WHERE org_id = $1 AND caller = $2 AND subject IS NOT NULL AND done`)
	purgeReplay = engine.Register("purge replay records", `DELETE FROM replay_records WHERE expires_at <= $1`)

	// spendConfirmation records that a confirmation token was used. Of concurrent callers
	// only one inserts a row.
	spendConfirmation = engine.Register("spend confirmation", `
		INSERT INTO spent_confirmations (org_id, confirmation_id, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`)
	purgeConfirmations = engine.Register("purge confirmations", `DELETE FROM spent_confirmations WHERE expires_at <= $1`)
)

// Reserve reserves an idempotency key and returns the reservation and true. If another call
// has reserved or used the key, it returns that call's record and false. It takes over an
// expired record, and a reservation with the token claim.From. If the record changes
// between reading and taking over, it starts again, with at most maxReservations attempts
// in all. Inside a transaction it fails with engine.ErrInTransaction.
func (s Store) Reserve(ctx context.Context, k replay.Key, claim replay.Claim, now time.Time) (replay.Record, bool, error) {
	if s.db.InTransaction(ctx) {
		return replay.Record{}, false, engine.ErrInTransaction
	}
	if claim.Token == "" {
		claim.Token = replay.NewToken()
	}
	mine := replay.Record{Token: claim.Token, Digest: claim.Digest}
	until := engine.At(now.Add(replay.Lease))
	for range maxReservations {
		inserted, err := s.db.Exec(ctx, reserveFree, k.OrgID, k.Space, k.Key, claim.Digest, string(claim.Token), claim.Process, until)
		if err != nil || inserted == 1 {
			return s.reservation(ctx, k, mine, err)
		}
		found, err := engine.List[replayRow](ctx, s.db, replayRecord, k.OrgID, k.Space, k.Key)
		if err != nil {
			return replay.Record{}, false, err
		}
		if len(found) == 0 {
			continue
		}
		if found[0].holds(claim, now) {
			return found[0].record(), false, nil
		}
		taken, err := s.db.Exec(ctx, reserveHeld, claim.Digest, string(claim.Token), claim.Process, until,
			k.OrgID, k.Space, k.Key, engine.At(now), string(claim.From))
		if err != nil || taken == 1 {
			return s.reservation(ctx, k, mine, err)
		}
	}
	return replay.Record{}, false, errors.New("storage: reserve: the record changed at every attempt")
}

// reservation returns the result of Reserve; err is the error of the statement that
// inserted or took over the reservation. A failed statement may still have reserved the
// key, for example if its context ended at the last moment. After an error, reservation
// therefore releases the key.
func (s Store) reservation(ctx context.Context, k replay.Key, mine replay.Record, err error) (replay.Record, bool, error) {
	if err == nil {
		return mine, true, nil
	}
	return replay.Record{}, false, errors.Join(err, s.Release(context.WithoutCancel(ctx), k, mine.Token))
}

// Complete stores the result of a call under its idempotency key. It must run in the
// transaction of the call, so that the result is stored if and only if the call commits. It
// fails with Conflict if another call has taken over the key.
func (s Store) Complete(ctx context.Context, k replay.Key, token replay.Token, outcome replay.Outcome) error {
	var subject *string
	if outcome.Subject != "" {
		subject = &outcome.Subject
	}
	var calledAt *engine.Time
	if !outcome.CalledAt.IsZero() {
		calledAt = engine.OptionalAt(&outcome.CalledAt)
	}
	completed, err := s.db.ExecWithWaiting(ctx, completeReplay, outcome.Result, engine.At(outcome.Expires), outcome.Caller, subject, calledAt, k.OrgID, k.Space, k.Key, string(token))
	if err != nil {
		return err
	}
	if completed == 0 {
		return core.Conflict("The call took so long that another call with its idempotency key took over.",
			"Repeat the call with the same key to get the other call's result.")
	}
	return nil
}

// Supersede deletes the results that are stored for replaying the caller's earlier writes
// to the given records. A later write has made these results obsolete. subjects has the ids
// of the records.
func (s Store) Supersede(ctx context.Context, orgID, caller string, subjects []string) error {
	if len(subjects) == 0 {
		return nil
	}
	if len(subjects) == 1 {
		return s.db.Later(ctx, supersedeOneReplay, orgID, caller, subjects[0])
	}
	parameter, err := engine.JSONParameter(subjects)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, supersedeReplays, orgID, caller, parameter)
}

func (s Store) SupersedeAll(ctx context.Context, orgID, caller string) error {
	return s.db.Later(ctx, supersedeAllReplays, orgID, caller)
}

func (s Store) Release(ctx context.Context, k replay.Key, token replay.Token) error {
	_, err := s.db.Exec(ctx, releaseReplay, k.OrgID, k.Space, k.Key, string(token))
	return err
}

// Spend records that a confirmation token was used. It returns false if the token was used
// before.
func (s Store) Spend(ctx context.Context, orgID, confirmationID string, expires time.Time) (bool, error) {
	spent, err := s.db.Exec(ctx, spendConfirmation, orgID, confirmationID, engine.At(expires))
	return spent == 1, err
}

// Purge deletes the replay records and confirmations that have expired, and returns their
// number. It also deletes processes without a heartbeat in the last 24 hours.
func (s Store) Purge(ctx context.Context, now time.Time) (int, error) {
	records, err := s.db.Exec(ctx, purgeReplay, engine.At(now))
	if err != nil {
		return 0, err
	}
	confirmations, err := s.db.Exec(ctx, purgeConfirmations, engine.At(now))
	if err != nil {
		return records, err
	}
	_, err = s.db.Exec(ctx, purgeProcesses, engine.At(now.Add(-processKept)))
	return records + confirmations, err
}
