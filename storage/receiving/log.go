package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// LogStore stores the log of received mail.
type LogStore struct{ db *engine.DB }

var (
	_ receiving.LogStore = LogStore{}
	_ receiving.Ending   = LogStore{}
)

// NewLog returns the store of the log on the database.
func NewLog(db *engine.DB) LogStore { return LogStore{db} }

const messageColumns = `id, domain_id, domain, message_id, sender, recipients, subject, verdicts, outcome, test, size, received_at, updated_at`

var (
	newestMessages = engine.Register("newest received messages", `
		SELECT `+messageColumns+` FROM receiving_messages
		WHERE org_id = $1 AND (received_at, id) < ($2, $3) AND received_at >= $4 AND received_at < $5
		ORDER BY received_at DESC, id DESC LIMIT $6`)
	// filteredMessages goes through the messages of a window until it has enough.
	filteredMessages = engine.Register("filtered received messages", `
		SELECT `+messageColumns+` FROM receiving_messages
		WHERE org_id = $1 AND (received_at, id) < ($2, $3) AND received_at >= $4 AND received_at < $5
			AND ($6 = '' OR domain = $6) AND ($7 = '' OR sender_key = $7) AND ($8 = '' OR outcome = $8)
			AND ($9 = '' OR EXISTS (SELECT 1 FROM json_each(recipient_keys) AS r WHERE r.atom = $9))
		ORDER BY received_at DESC, id DESC LIMIT $10`)
	messageByID = engine.RegisterPoint("received message by id", `
		SELECT `+messageColumns+` FROM receiving_messages WHERE org_id = $1 AND id = $2`)
	// statesByID and statesByMessage read a message and its states at the same instant.
	statesByID = engine.Register("received message with states by id", `
		SELECT m.*, s.state, s.occurred_at, s.detail, s.http_status FROM (
			SELECT `+messageColumns+` FROM receiving_messages WHERE org_id = $1 AND id = $2) AS m
		LEFT JOIN receiving_states AS s ON s.org_id = $1 AND s.message = m.id ORDER BY s.occurred_at, s.id`)
	statesByMessage = engine.Register("received message with states by message", `
		SELECT m.*, s.state, s.occurred_at, s.detail, s.http_status FROM (
			SELECT `+messageColumns+` FROM receiving_messages WHERE org_id = $1 AND message_id = $2 ORDER BY id LIMIT 1) AS m
		LEFT JOIN receiving_states AS s ON s.org_id = $1 AND s.message = m.id ORDER BY s.occurred_at, s.id`)
	endDeliveries = engine.Register("end deliveries of receiving domain", `
		UPDATE receiving_deliveries SET due_at = NULL WHERE org_id = $1 AND domain_id = $2 AND due_at IS NOT NULL RETURNING id`)
	setOutcomes = engine.Register("set outcomes of received messages", `
		UPDATE receiving_messages SET outcome = v ->> 'outcome', updated_at = CAST(v ->> 'at' AS bigint)
		FROM `+engine.ParameterRows(`$1`)+`
		WHERE org_id = $2 AND receiving_messages.id = v ->> 'message'`)
	addStates = engine.Register("add states of received messages", `
		INSERT INTO receiving_states (org_id, message, id, state, occurred_at, detail, http_status)
		SELECT $1, v ->> 'message', v ->> 'id', v ->> 'outcome', CAST(v ->> 'at' AS bigint), v ->> 'detail', CAST(v ->> 'status' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE`)
)

// messageRow is a row of receiving_messages.
type messageRow struct {
	ID         string            `db:"id"`
	DomainID   string            `db:"domain_id"`
	Domain     string            `db:"domain"`
	MessageID  string            `db:"message_id"`
	Sender     string            `db:"sender"`
	Recipients string            `db:"recipients"`
	Subject    string            `db:"subject"`
	Verdicts   string            `db:"verdicts"`
	Outcome    receiving.Outcome `db:"outcome"`
	Test       bool              `db:"test"`
	Size       int64             `db:"size"`
	ReceivedAt engine.Time       `db:"received_at"`
	UpdatedAt  engine.Time       `db:"updated_at"`
}

func (r messageRow) message() (receiving.Message, error) {
	m := receiving.Message{
		ID: r.ID, DomainID: r.DomainID, Domain: r.Domain, MessageID: r.MessageID, Sender: r.Sender, Subject: r.Subject, Outcome: r.Outcome,
		Test: r.Test, Size: r.Size, ReceivedAt: r.ReceivedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
	var err error
	if m.Recipients, err = engine.DecodeTexts(r.Recipients); err != nil {
		return m, err
	}
	if err := json.Unmarshal([]byte(r.Verdicts), &m.Verdicts); err != nil {
		return m, fmt.Errorf("storage: verdicts of received message: %w", err)
	}
	return m, nil
}

func (s LogStore) Messages(ctx context.Context, orgID string, f receiving.MessageFilter, after *core.After, limit int) ([]receiving.Message, error) {
	at, id := engine.PageStart(after)
	from, to := engine.Time(math.MinInt64), engine.Time(math.MaxInt64)
	if f.From != nil {
		from = engine.At(*f.From)
	}
	if f.To != nil {
		to = engine.At(*f.To)
	}
	if f.Domain+f.Recipient+f.Sender+string(f.Outcome) == "" {
		return engine.ListParsed(ctx, s.db, messageRow.message, newestMessages, orgID, at, id, from, to, limit)
	}
	return engine.ListParsed(ctx, s.db, messageRow.message, filteredMessages, orgID, at, id, from, to, f.Domain, f.Sender, string(f.Outcome), f.Recipient, limit)
}

// courseRow is a message and one of its states, whose columns are NULL if it has none.
type courseRow struct {
	messageRow
	State      *receiving.Outcome `db:"state"`
	OccurredAt *engine.Time       `db:"occurred_at"`
	Detail     *string            `db:"detail"`
	Status     *int               `db:"http_status"`
}

func (s LogStore) Message(ctx context.Context, orgID, id string) (receiving.MessageWithStates, error) {
	for _, statement := range []*engine.Statement{statesByID, statesByMessage} {
		rows, err := engine.List[courseRow](ctx, s.db, statement, orgID, id)
		if err != nil {
			return receiving.MessageWithStates{}, err
		}
		if len(rows) > 0 {
			return course(rows)
		}
	}
	return receiving.MessageWithStates{}, core.NotFound("message")
}

// course returns the message of rows, with the states of all of them.
func course(rows []courseRow) (receiving.MessageWithStates, error) {
	m, err := rows[0].message()
	states := make([]receiving.State, 0, len(rows))
	for _, r := range rows {
		if r.State == nil {
			continue
		}
		state := receiving.State{State: *r.State, OccurredAt: r.OccurredAt.Time(), Detail: *r.Detail}
		if *r.Status != 0 {
			state.HTTPStatus = r.Status
		}
		states = append(states, state)
	}
	return receiving.MessageWithStates{Message: m, States: states}, err
}

// first returns the first item, or the zero value without one.
func first[T any](items []T) T {
	var none T
	if len(items) == 0 {
		return none
	}
	return items[0]
}

// stateRow is a new state of a message, in a parameter with many rows.
type stateRow struct {
	Message string            `json:"message"`
	ID      string            `json:"id"`
	Outcome receiving.Outcome `json:"outcome"`
	At      engine.Time       `json:"at"`
	Detail  string            `json:"detail"`
	Status  int               `json:"status"`
}

// addStates stores new states of messages.
func (s LogStore) addStates(ctx context.Context, orgID string, rows []stateRow) error {
	return engine.ExecRows(ctx, s.db, addStates, orgID, rows)
}

// setOutcomes makes the states the outcomes of their messages, and stores them.
func (s LogStore) setOutcomes(ctx context.Context, orgID string, rows []stateRow) error {
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, setOutcomes, parameter, orgID); err != nil {
		return err
	}
	return s.addStates(ctx, orgID, rows)
}

func (s LogStore) EndDeliveries(ctx context.Context, orgID, domainID, reason string, now time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		ended, err := engine.Values[string](ctx, s.db, endDeliveries, orgID, domainID)
		if err != nil || len(ended) == 0 {
			return err
		}
		rows := make([]stateRow, len(ended))
		for i, id := range ended {
			rows[i] = stateRow{Message: id, ID: core.NewID(), Outcome: receiving.DeliveryFailed, At: engine.At(now), Detail: reason}
		}
		return s.setOutcomes(ctx, orgID, rows)
	})
}
