package receiving

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

func (s DeliveryStore) Add(ctx context.Context, orgID string, all ...receiving.LogEntry) (added []receiving.Added, err error) {
	order := make([]int, len(all)) // by id, so that processes do not wait for each other in a circle
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[a].Message.ID, all[b].Message.ID) })
	err = s.db.InTx(ctx, func(ctx context.Context) error {
		added = make([]receiving.Added, len(all)) // the transaction may run again
		isNew, err := s.insertMessages(ctx, orgID, all, order)
		if err != nil {
			return err
		}
		var states []stateRow
		var deliveries []deliveryRow
		for _, i := range order {
			m := all[i].Message
			if added[i].New = isNew[m.ID]; !added[i].New {
				continue
			}
			delete(isNew, m.ID)
			states = append(states, stateRows(m.ID, all[i].States)...)
			if added[i].Kept, err = s.insertContent(ctx, orgID, all[i]); err != nil {
				return err
			}
			if all[i].Wanted == nil {
				continue
			}
			row, err := newDelivery(m, *all[i].Wanted, m.UpdatedAt)
			if err != nil {
				return err
			}
			deliveries = append(deliveries, row)
		}
		if len(states) == 0 {
			return nil
		}
		if err := s.log.addStates(ctx, orgID, states); err != nil || len(deliveries) == 0 {
			return err
		}
		return engine.ExecRows(ctx, s.db, insertDeliveries, orgID, deliveries)
	})
	return added, err
}

// newMessage is a new row of receiving_messages, in a parameter with many rows.
type newMessage struct {
	ID            string            `json:"id"`
	DomainID      string            `json:"domain_id"`
	Domain        string            `json:"domain"`
	Message       string            `json:"message"`
	Sender        string            `json:"sender"`
	SenderKey     string            `json:"sender_key"`
	Recipients    string            `json:"recipients"`
	RecipientKeys string            `json:"recipient_keys"`
	Subject       string            `json:"subject"`
	Verdicts      string            `json:"verdicts"`
	Outcome       receiving.Outcome `json:"outcome"`
	Test          string            `json:"test"`
	Size          int64             `json:"size"`
	Received      engine.Time       `json:"received"`
	Updated       engine.Time       `json:"updated"`
}

func newMessageOf(m receiving.Message) (newMessage, error) {
	row := newMessage{
		ID: m.ID, DomainID: m.DomainID, Domain: m.Domain, Message: m.MessageID, Sender: m.Sender, SenderKey: core.EmailKey(m.Sender), Subject: m.Subject,
		Outcome: m.Outcome, Test: "no", Size: m.Size, Received: engine.At(m.ReceivedAt), Updated: engine.At(m.UpdatedAt),
	}
	if m.Test {
		row.Test = "yes"
	}
	keys := make([]string, len(m.Recipients))
	for i, recipient := range m.Recipients {
		keys[i] = core.EmailKey(recipient)
	}
	var err error
	if row.Recipients, err = engine.EncodeTexts(m.Recipients); err != nil {
		return row, err
	}
	if row.RecipientKeys, err = engine.EncodeTexts(keys); err != nil {
		return row, err
	}
	verdicts, err := json.Marshal(m.Verdicts)
	if err != nil {
		return row, fmt.Errorf("storage: verdicts of received message: %w", err)
	}
	row.Verdicts = string(verdicts)
	return row, nil
}

// insertMessages inserts the rows of messages, in the order of their positions. It returns the ids
// that were not stored.
func (s DeliveryStore) insertMessages(ctx context.Context, orgID string, all []receiving.LogEntry, order []int) (map[string]bool, error) {
	rows := make([]newMessage, len(order))
	for n, i := range order {
		var err error
		if rows[n], err = newMessageOf(all[i].Message); err != nil {
			return nil, err
		}
	}
	parameter, err := engine.JSONParameter(rows)
	if err != nil {
		return nil, err
	}
	ids, err := engine.Values[string](ctx, s.db, insertMessages, orgID, parameter)
	isNew := map[string]bool{}
	for _, id := range ids {
		isNew[id] = true
	}
	return isNew, err
}

// insertContent inserts the content of a message, if it has one. Contents are inserted one by one,
// because they can be large. It reports false if nothing was inserted.
func (s DeliveryStore) insertContent(ctx context.Context, orgID string, e receiving.LogEntry) (bool, error) {
	if e.Content == nil {
		return false, nil
	}
	content, err := json.Marshal(e.Content)
	if err != nil {
		return false, fmt.Errorf("storage: content of received message: %w", err)
	}
	n, err := s.db.Exec(ctx, insertContent, orgID, e.Message.MessageID, string(content), engine.At(e.ExpiresAt))
	return n > 0, err
}

// deliveryRow is a new row of receiving_deliveries, in a parameter with many rows.
type deliveryRow struct {
	DomainID   string      `json:"domain_id"`
	ID         string      `json:"id"`
	Message    string      `json:"message"`
	Recipients string      `json:"recipients"`
	Entities   string      `json:"entities"`
	Due        engine.Time `json:"due"`
}

// newDelivery returns a delivery that is due at a time.
func newDelivery(m receiving.Message, w receiving.Wanted, due time.Time) (deliveryRow, error) {
	row := deliveryRow{DomainID: m.DomainID, ID: m.ID, Message: m.MessageID, Due: engine.At(due)}
	var err error
	if row.Recipients, err = engine.EncodeTexts(w.Recipients); err != nil {
		return row, err
	}
	entities, err := json.Marshal(w.Entities)
	if err != nil {
		return row, fmt.Errorf("storage: entities of received message: %w", err)
	}
	row.Entities = string(entities)
	return row, nil
}
