package mailstatus_test

import (
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
)

// types has all types of events.
var types = []messages.EventType{
	messages.Send, messages.Delivery, messages.Bounce, messages.Complaint, messages.Reject, messages.Open, messages.Click, messages.DeliveryDelay,
	messages.RenderingFailure, messages.Subscription,
}

// TestEveryEventHasWords checks that each type of event has words, that a filter finds it by
// both names, and that an unknown type keeps its name.
func TestEveryEventHasWords(t *testing.T) {
	t.Parallel()
	for _, s := range mailstatus.All() {
		if !slices.Contains(types, messages.EventType(s.Type)) {
			t.Errorf("%s is no type of event", s.Type)
		}
		for _, name := range []string{s.Value, s.Type} {
			if found, ok := mailstatus.Named(name); ok != (s.Value != "") || ok && found != s {
				t.Errorf("%q names %+v", name, found)
			}
		}
	}
	for _, eventType := range types {
		if s := mailstatus.Of(string(eventType)); s.Name == "" || s.Mark == "" || s.Event == "" || !slices.Contains(mailstatus.All(), s) {
			t.Errorf("%s is shown as %+v", eventType, s)
		}
	}
	if got, want := mailstatus.Of("New\u202eType"), (mailstatus.Status{Type: "New\u202eType", Name: "NewType", Mark: "sent", Event: "NewType"}); got != want {
		t.Errorf("an unknown type is shown as %+v", got)
	}
}
