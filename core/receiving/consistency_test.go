package receiving_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestOutcomeIsTheLastState reads a message while its outcome changes. The outcome must always
// be the last of its states.
func TestOutcomeIsTheLastState(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		w.Receive(t, w.Message(core.NewID()), "support@in.example.com")
		m := log(t, w)[0]
		const changes = 200
		ended := make(chan error, 1)
		go func() {
			for i := range changes {
				state := receiving.State{State: []receiving.Outcome{receiving.Received, receiving.Retrying}[i%2], OccurredAt: m.ReceivedAt.Add(time.Duration(i+1) * time.Minute)}
				if err := db.ReceivedDeliveries().Requeue(t.Context(), w.OrgID, m, nil, state); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
		for {
			got := w.Want(t, "inbound_messages_get", `{"message_id":"`+m.ID+`"}`)
			states := got["states"].([]any)
			if last := states[len(states)-1].(map[string]any)["state"]; fmt.Sprint(last) != fmt.Sprint(got["outcome"]) {
				t.Fatalf("the outcome is %v and the last of %d states %v", got["outcome"], len(states), last)
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
				return
			default:
			}
		}
	})
}
