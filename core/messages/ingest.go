package messages

import (
	"context"
)

// Recorded counts the events of one call: new events, and duplicates of events already
// stored.
type Recorded struct{ New, Duplicates int }

// Record stores those of the events that are new, and passes them to every [Recorder], in
// one transaction. If it returns no error, the transaction is committed. Within a
// transaction of the caller, it is committed together with that transaction.
func (m *Messages) Record(ctx context.Context, orgID string, events []Event) (Recorded, error) {
	fresh, err := m.record(ctx, orgID, events)
	if err != nil {
		return Recorded{}, err
	}
	return Recorded{New: len(fresh), Duplicates: len(events) - len(fresh)}, nil
}

func (m *Messages) record(ctx context.Context, orgID string, events []Event) ([]Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	if m.HideErased != nil {
		if err := m.HideErased(ctx, orgID, events); err != nil {
			return nil, err
		}
	}
	var fresh []Event
	err := m.Transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		if fresh, err = m.Store.RecordEvents(ctx, orgID, events, m.Clock()); err != nil || len(fresh) == 0 {
			return err
		}
		for _, r := range m.Recorders {
			if err := r.ObserveEvents(ctx, orgID, fresh); err != nil {
				return err
			}
		}
		return nil
	})
	return fresh, err
}
