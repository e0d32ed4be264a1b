package receiving_test

import (
	"encoding/json"
	"testing"

	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

const hook = "https://hooks.example.com/mail"

// states returns the states of the newest message as "state status".
func states(t *testing.T, w *receivingtest.World, id string) []receiving.State {
	t.Helper()
	found, err := w.DB.ReceivedLog().Message(t.Context(), w.OrgID, id)
	if err != nil {
		t.Fatal(err)
	}
	return found.States
}

// outcomes returns the names of the states of a message.
func outcomes(t *testing.T, w *receivingtest.World, id string) []receiving.Outcome {
	t.Helper()
	var all []receiving.Outcome
	for _, s := range states(t, w, id) {
		all = append(all, s.State)
	}
	return all
}

// log returns the messages of the log, newest first.
func log(t *testing.T, w *receivingtest.World) []receiving.Message {
	t.Helper()
	all, err := w.DB.ReceivedLog().Messages(t.Context(), w.OrgID, receiving.MessageFilter{}, nil, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// body returns the body of a request as JSON.
func body(t *testing.T, r standardhooks.Request) map[string]any {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(r.Body, &all); err != nil {
		t.Fatalf("%v: %s", err, r.Body)
	}
	return all
}
