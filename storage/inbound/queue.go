package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Queue stores messages that wait to be processed.
type Queue struct{ db *engine.DB }

var _ inbound.Queue = Queue{}

// NewQueue returns the queue on the database.
func NewQueue(on *engine.DB) Queue { return Queue{on} }

const taskColumns = `org_id, id, envelope, store_id, raw_key, discard, received_at, attempts`

var (
	addReceived = engine.Register("add received mail", `
		INSERT INTO received_mail (org_id, id, envelope, store_id, raw_key, discard, received_at, attempts, due_at)
		SELECT v ->> 'org', v ->> 'id', v ->> 'envelope', v ->> 'store', v ->> 'raw', '', CAST(v ->> 'received' AS bigint), CAST(v ->> 'attempts' AS bigint), CAST(v ->> 'due' AS bigint)
		FROM `+engine.ParameterRows(`$1`)+` WHERE TRUE
		ON CONFLICT DO NOTHING`)
	claimReceived = engine.Register("claim received mail", `
		UPDATE received_mail SET attempts = attempts + 1, due_at = $1
		WHERE (org_id, id) IN (SELECT r.org_id, r.id FROM received_mail AS r WHERE r.due_at <= $2 AND `+engine.NotDeleted("r.org_id")+` ORDER BY r.due_at, r.id LIMIT $3 /*pg FOR UPDATE SKIP LOCKED*/)
		RETURNING `+taskColumns)
	deleteReceived = engine.Register("delete received mail", `
		DELETE FROM received_mail
		WHERE (org_id, id, attempts) IN (SELECT v ->> 'org', v ->> 'id', CAST(v ->> 'attempts' AS bigint) FROM `+engine.CountedRows(`$1`, `$2`)+`)
		RETURNING org_id, id`)
	discardReceived = engine.Register("discard received mail", `
		UPDATE received_mail SET discard = v ->> 'discard'
		FROM `+engine.CountedRows(`$1`, `$2`)+`
		WHERE org_id = v ->> 'org' AND id = v ->> 'id' AND attempts = CAST(v ->> 'attempts' AS bigint)
		RETURNING org_id, id`)
	putOffReceived = engine.Register("put off received mail", `
		UPDATE received_mail SET due_at = $1 WHERE org_id = $2 AND id = $3 AND attempts = $4 RETURNING discard`)
	knownReceived = engine.Register("known received mail", `
		SELECT id FROM received_mail WHERE org_id = $1 AND id IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)
)

// taskRow is a row of received_mail, as it is read, and as it is written in a parameter with
// many rows.
type taskRow struct {
	OrgID      string      `db:"org_id" json:"org"`
	ID         string      `db:"id" json:"id"`
	Envelope   string      `db:"envelope" json:"envelope"`
	StoreID    string      `db:"store_id" json:"store"`
	RawKey     string      `db:"raw_key" json:"raw"`
	Discard    string      `db:"discard" json:"-"`
	ReceivedAt engine.Time `db:"received_at" json:"received"`
	Attempts   int         `db:"attempts" json:"attempts"`
	DueAt      engine.Time `db:"-" json:"due"`
}

func (r taskRow) task() (inbound.Task, error) {
	t := inbound.Task{OrgID: r.OrgID, StoreID: r.StoreID, RawKey: r.RawKey, Attempts: r.Attempts}
	if err := json.Unmarshal([]byte(r.Envelope), &t.Envelope); err != nil {
		return inbound.Task{}, fmt.Errorf("storage: envelope of received mail: %w", err)
	}
	if r.Discard == "" {
		return t, nil
	}
	if err := json.Unmarshal([]byte(r.Discard), &t.Discard); err != nil {
		return inbound.Task{}, fmt.Errorf("storage: objects of received mail: %w", err)
	}
	return t, nil
}

// Add implements [inbound.Queue].
func (q Queue) Add(ctx context.Context, tasks []inbound.Task) error {
	rows := make([]taskRow, len(tasks))
	for i, t := range tasks {
		envelope, err := json.Marshal(t.Envelope)
		if err != nil {
			return fmt.Errorf("storage: envelope of received mail: %w", err)
		}
		rows[i] = taskRow{
			OrgID: t.OrgID, ID: t.Envelope.ID, Envelope: string(envelope), StoreID: t.StoreID, RawKey: t.RawKey, ReceivedAt: engine.At(t.Envelope.ReceivedAt),
		}
		rows[i].DueAt = rows[i].ReceivedAt
		if !t.LeasedUntil.IsZero() {
			rows[i].Attempts, rows[i].DueAt = 1, engine.At(t.LeasedUntil)
		}
	}
	added, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	_, err = q.db.Exec(ctx, addReceived, added)
	return err
}

// Claim implements [inbound.Queue].
func (q Queue) Claim(ctx context.Context, now, until time.Time, limit int) ([]inbound.Task, error) {
	return engine.ListParsed(ctx, q.db, taskRow.task, claimReceived, engine.At(until), engine.At(now), limit)
}

// settledRow is a task that ends, in a parameter with many rows.
type settledRow struct {
	taskKey
	Attempts int    `json:"attempts"`
	Discard  string `json:"discard,omitempty"`
}

// taskKey identifies a task.
type taskKey struct {
	OrgID string `db:"org_id" json:"org"`
	ID    string `db:"id" json:"id"`
}

func keyOf(t inbound.Task) taskKey { return taskKey{t.OrgID, t.Envelope.ID} }

// Settle implements [inbound.Queue].
func (q Queue) Settle(ctx context.Context, tasks []inbound.Task) ([]inbound.Task, error) {
	var done, discarding []settledRow
	for _, t := range tasks {
		row := settledRow{taskKey: keyOf(t), Attempts: t.Attempts}
		if len(t.Discard) == 0 {
			done = append(done, row)
			continue
		}
		keys, err := engine.EncodeTexts(t.Discard)
		if err != nil {
			return nil, err
		}
		row.Discard = keys
		discarding = append(discarding, row)
	}
	settled := map[taskKey]bool{}
	if err := q.settle(ctx, deleteReceived, done, settled); err != nil {
		return nil, err
	}
	if err := q.settle(ctx, discardReceived, discarding, settled); err != nil {
		return nil, err
	}
	var again []inbound.Task
	for _, t := range tasks {
		if !settled[keyOf(t)] {
			again = append(again, t)
		}
		delete(settled, keyOf(t)) // a second task of the message is not settled
	}
	return again, nil
}

// settle runs a statement that changes tasks and returns them, and adds these to settled.
func (q Queue) settle(ctx context.Context, s *engine.Statement, rows []settledRow, settled map[taskKey]bool) error {
	if len(rows) == 0 {
		return nil
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	changed, err := engine.List[taskKey](ctx, q.db, s, parameter, len(rows))
	for _, key := range changed {
		settled[key] = true
	}
	return err
}

// PutOff implements [inbound.Queue].
func (q Queue) PutOff(ctx context.Context, t inbound.Task, due time.Time) (bool, error) {
	discards, err := engine.Values[string](ctx, q.db, putOffReceived, engine.At(due), t.OrgID, t.Envelope.ID, t.Attempts)
	return len(discards) == 1 && discards[0] == "", err
}

// Held says that any object may be needed of those of the messages that wait.
func (q Queue) Held(ctx context.Context, orgID string, messageIDs []string) ([]inbound.Holding, error) {
	parameter, err := engine.JSONParameter(messageIDs)
	if err != nil {
		return nil, err
	}
	waiting, err := engine.Values[string](ctx, q.db, knownReceived, orgID, parameter)
	held := make([]inbound.Holding, len(waiting))
	for i, id := range waiting {
		held[i] = inbound.Holding{MessageID: id, Any: true}
	}
	return held, err
}
