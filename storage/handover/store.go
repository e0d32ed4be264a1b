package handover

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores the recipients of sends.
type Store struct{ db *engine.DB }

var _ handover.Store = Store{}

// New returns the store of recipients on the database.
func New(db *engine.DB) Store { return Store{db} }

const recipientColumns = `recipient, email, created_at, state, attempt, claimed_by, changed_at, not_before, message_id, reason, tier`

// givenUp selects recipients whose attempt was given up.
const givenUp = `(state = 'failed' AND reason = '` + handover.OutcomeUnknown + `')`

// named are the FROM and WHERE clauses of statements that change the recipients of $2, a JSON
// array of rows. The columns of the primary key are in the rows: if the organization and the send
// were parameters, both databases would read all recipients of the send.
//
// PostgreSQL has no statistics of a new send. The first condition is always true. It lets
// PostgreSQL expect one row of the array, so that it finds each recipient by the primary key
// instead of reading all recipients of all sends.
var named = `FROM ` + engine.ParameterRows(`$2`) + `
		WHERE /*pg v ->> 'key' = coalesce(v ->> 'key', '') AND*/ org_id = v ->> 'org' AND send_id = v ->> 'send' AND recipient = v ->> 'key'`

// changed is named for rows with the time of the creation, so that PostgreSQL reads only the
// partitions of these times.
var changed = named + ` AND created_at = CAST(v ->> 'created' AS bigint)`

// isPending and isHandingOver are the SQL conditions that a recipient has these states. In
// PostgreSQL they are expressions without an index: it would read all recipients in the state
// for each row.
const (
	isPending     = `state /*pg || ''*/ = 'pending'`
	isHandingOver = `state /*pg || ''*/ = 'handing_over'`
)

// sameAttempt is the SQL condition that a row of the parameter is about the last attempt.
const sameAttempt = `attempt = CAST(v ->> 'attempt' AS bigint)`

var (
	addRecipients = engine.Register("add recipients", `
		INSERT INTO handover_recipients (org_id, send_id, recipient, email, state, attempt, claimed_by, changed_at, not_before, message_id, reason, tier, created_at)
		SELECT CAST($1 AS bytetext), CAST($2 AS bytetext), v ->> 'key', v ->> 'email', 'pending', 0, '', CAST($3 AS bigint), CAST($3 AS bigint), '', '', '', CAST($3 AS bigint)
		FROM `+engine.ParameterRows(`$4`)+`
		WHERE NOT EXISTS (SELECT 1 FROM handover_recipients AS h WHERE h.org_id = CAST($1 AS bytetext) AND h.send_id = CAST($2 AS bytetext) AND h.recipient = v ->> 'key')
		ON CONFLICT DO NOTHING`)
	pendingRecipients = engine.Register("pending recipients", `
		SELECT `+recipientColumns+` FROM handover_recipients
		WHERE org_id = $1 AND send_id = $2 AND state = 'pending' AND not_before <= $3
		ORDER BY not_before, recipient LIMIT $4`)
	// lockPendingRecipients skips recipients that another worker is about to claim. SQLite has
	// one writer at a time.
	lockPendingRecipients = engine.Register("lock pending recipients", `
		SELECT `+recipientColumns+` FROM handover_recipients
		WHERE org_id = $1 AND send_id = $2 AND state = 'pending' AND not_before <= $3
		ORDER BY not_before, recipient LIMIT $4 /*pg FOR UPDATE SKIP LOCKED*/`)
	claimRecipients = engine.Register("claim recipients", `
		UPDATE handover_recipients SET state = 'handing_over', attempt = attempt + 1, claimed_by = v ->> 'process', changed_at = $1
		`+changed+` AND `+isPending+` AND not_before <= $3`)
	filterRecipients = engine.Register("filter recipients", `
		UPDATE handover_recipients SET state = 'filtered', tier = v ->> 'tier', changed_at = $1
		`+changed+` AND `+isPending)
	acceptRecipients = engine.Register("accept recipients", `
		UPDATE handover_recipients SET state = 'sent', message_id = v ->> 'message', reason = '', changed_at = $1
		`+changed+` AND `+sameAttempt+` AND (`+isHandingOver+` OR `+givenUp+`)`)
	refuseRecipients = engine.Register("refuse recipients", `
		UPDATE handover_recipients SET state = 'failed', reason = v ->> 'reason', changed_at = $1
		`+changed+` AND `+sameAttempt+` AND (`+isHandingOver+` OR `+givenUp+`)`)
	releaseRecipients = engine.Register("release recipients", `
		UPDATE handover_recipients SET state = 'pending', not_before = CAST(v ->> 'not_before' AS bigint), changed_at = $1
		`+changed+` AND `+sameAttempt+` AND `+isHandingOver)
	observeRecipients = engine.Register("observe recipients", `
		UPDATE handover_recipients SET state = 'sent', message_id = v ->> 'message', reason = '', changed_at = $1
		`+named+` AND state NOT IN ('sent', 'filtered')`)
	// giveUpRecipients reads through the partial index handover_recipients_open.
	giveUpRecipients = engine.Register("give up recipients", `
		UPDATE handover_recipients SET state = 'failed', reason = '`+handover.OutcomeUnknown+`', changed_at = $1
		WHERE org_id = $2 AND state = 'handing_over' AND (send_id, recipient) IN (
			SELECT send_id, recipient FROM handover_recipients
			WHERE org_id = $2 AND state = 'handing_over' AND changed_at <= $3
			ORDER BY changed_at LIMIT $4 /*pg FOR UPDATE SKIP LOCKED*/)`)
	recipientByKey = engine.RegisterPoint("recipient by key", `
		SELECT `+recipientColumns+` FROM handover_recipients WHERE org_id = $1 AND send_id = $2 AND recipient = $3`)
	freeAt      = engine.RegisterPoint("free time of account", `SELECT free_at FROM handover_rates WHERE org_id = $1`)
	reserveRate = engine.Register("reserve rate", `
		INSERT INTO handover_rates (org_id, free_at) VALUES ($1, CAST($2 AS bigint) + CAST($3 AS bigint))
		ON CONFLICT (org_id) DO UPDATE SET free_at =
			CASE WHEN handover_rates.free_at > $4 THEN handover_rates.free_at ELSE CAST($5 AS bigint) END + CAST($6 AS bigint)
		RETURNING free_at`)
	pauseRate = engine.Register("pause account", `
		INSERT INTO handover_rates (org_id, free_at) VALUES ($1, $2)
		ON CONFLICT (org_id) DO UPDATE SET free_at = CASE WHEN handover_rates.free_at > excluded.free_at THEN handover_rates.free_at ELSE excluded.free_at END`)
)

// recipientRow is a row of handover_recipients.
type recipientRow struct {
	Recipient string         `db:"recipient"`
	Email     string         `db:"email"`
	CreatedAt engine.Time    `db:"created_at"`
	State     handover.State `db:"state"`
	Attempt   int            `db:"attempt"`
	ClaimedBy string         `db:"claimed_by"`
	ChangedAt engine.Time    `db:"changed_at"`
	NotBefore engine.Time    `db:"not_before"`
	MessageID string         `db:"message_id"`
	Reason    string         `db:"reason"`
	Tier      handover.Tier  `db:"tier"`
}

func recipientOf(sendID string) func(recipientRow) handover.Recipient {
	return func(r recipientRow) handover.Recipient {
		return handover.Recipient{
			SendID: sendID, Key: r.Recipient, Email: r.Email, CreatedAt: r.CreatedAt.Time(), State: r.State, Attempt: r.Attempt, ClaimedBy: r.ClaimedBy,
			At: r.ChangedAt.Time(), NotBefore: r.NotBefore.Time(), MessageID: r.MessageID, Reason: r.Reason, Tier: r.Tier,
		}
	}
}

func (s Store) Add(ctx context.Context, orgID, sendID string, added []handover.Recipient, now time.Time) error {
	type row struct {
		Key   string `json:"key"`
		Email string `json:"email"`
	}
	rows := make([]row, len(added))
	for i, r := range added {
		rows[i] = row{r.Key, r.Email}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, addRecipients, orgID, sendID, engine.At(now), parameter)
}

func (s Store) Pending(ctx context.Context, orgID, sendID string, now time.Time, limit int) ([]handover.Recipient, error) {
	return engine.ListAs(ctx, s.db, recipientOf(sendID), s.db.LockedInside(ctx, pendingRecipients, lockPendingRecipients), orgID, sendID, engine.At(now), limit)
}

// changedRow is a row of the parameter of a statement that changes recipients.
type changedRow struct {
	Org       string        `json:"org"`
	Send      string        `json:"send"`
	Key       string        `json:"key"`
	Created   engine.Time   `json:"created"`
	Attempt   int           `json:"attempt"`
	Process   string        `json:"process"`
	Message   string        `json:"message"`
	Reason    string        `json:"reason"`
	NotBefore engine.Time   `json:"not_before"`
	Tier      handover.Tier `json:"tier"`
}

func (s Store) Claim(ctx context.Context, orgID, sendID string, claimed []handover.Recipient, process string, now time.Time) error {
	rows := make([]changedRow, len(claimed))
	for i, r := range claimed {
		rows[i] = changedRow{Org: orgID, Send: sendID, Key: r.Key, Created: engine.At(r.CreatedAt), Process: process}
	}
	if len(rows) == 0 {
		return nil
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	return s.db.Later(ctx, claimRecipients, engine.At(now), parameter, engine.At(now))
}

func (s Store) Filter(ctx context.Context, orgID, sendID string, filtered []handover.Recipient, now time.Time) error {
	rows := make([]changedRow, len(filtered))
	for i, r := range filtered {
		rows[i] = changedRow{Org: orgID, Send: sendID, Key: r.Key, Created: engine.At(r.CreatedAt), Tier: r.Tier}
	}
	return s.change(ctx, filterRecipients, rows, now)
}

func (s Store) Answer(ctx context.Context, orgID, sendID string, answers []handover.Answer, now time.Time) error {
	by := map[handover.Verdict][]changedRow{}
	for _, a := range answers {
		row := changedRow{Org: orgID, Send: sendID, Key: a.Key, Created: engine.At(a.CreatedAt), Attempt: a.Attempt, Message: a.MessageID, Reason: a.Reason}
		if a.Verdict == handover.Released {
			row.NotBefore = engine.At(a.NotBefore)
		}
		by[a.Verdict] = append(by[a.Verdict], row)
	}
	store := func(ctx context.Context) error {
		return errors.Join(
			s.change(ctx, acceptRecipients, by[handover.Accepted], now),
			s.change(ctx, refuseRecipients, by[handover.Refused], now),
			s.change(ctx, releaseRecipients, by[handover.Released], now),
		)
	}
	if len(by) <= 1 { // one statement needs no transaction
		return store(ctx)
	}
	return s.db.InTx(ctx, store)
}

func (s Store) Observe(ctx context.Context, orgID string, seen []handover.Evidence, now time.Time) (int, error) {
	rows := make([]changedRow, len(seen))
	for i, e := range seen {
		rows[i] = changedRow{Org: orgID, Send: e.SendID, Key: e.Key, Message: e.MessageID}
	}
	return s.changeCounted(ctx, observeRecipients, rows, now)
}

// change runs a statement that changes recipients.
func (s Store) change(ctx context.Context, statement *engine.Statement, rows []changedRow, now time.Time) error {
	_, err := s.changeCounted(ctx, statement, rows, now)
	return err
}

// changeCounted is change, and returns the number of recipients that the statement changed.
func (s Store) changeCounted(ctx context.Context, statement *engine.Statement, rows []changedRow, now time.Time) (int, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return 0, err
	}
	return s.db.Exec(ctx, statement, engine.At(now), parameter)
}

func (s Store) GiveUp(ctx context.Context, orgID string, now time.Time, limit int) (int, error) {
	return s.db.Exec(ctx, giveUpRecipients, engine.At(now), orgID, engine.At(now.Add(-handover.Patience)), limit)
}

func (s Store) Recipient(ctx context.Context, orgID, sendID, key string) (handover.Recipient, error) {
	row, err := engine.One[recipientRow](ctx, s.db, "recipient", recipientByKey, orgID, sendID, key)
	return recipientOf(sendID)(row), err
}

func (s Store) FreeAt(ctx context.Context, orgID string) (time.Time, error) {
	found, err := engine.Values[engine.Time](ctx, s.db, freeAt, orgID)
	if err != nil || len(found) == 0 {
		return time.Time{}, err
	}
	return found[0].Time(), nil
}

func (s Store) Reserve(ctx context.Context, orgID string, n int, each time.Duration, now time.Time) (time.Time, error) {
	if n == 0 || each == 0 {
		return now, nil
	}
	took, at := time.Duration(n)*each, engine.At(now)
	free, err := engine.ValuesWithWaiting[engine.Time](ctx, s.db, reserveRate, orgID, at, took.Microseconds(), at, at, took.Microseconds())
	if err != nil {
		return time.Time{}, err
	}
	return free[0].Time().Add(-took), nil
}

func (s Store) Pause(ctx context.Context, orgID string, until time.Time) error {
	_, err := s.db.Exec(ctx, pauseRate, orgID, engine.At(until))
	return err
}
