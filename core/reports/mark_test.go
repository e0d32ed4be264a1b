package reports

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/messages"
)

// Counting as events arrive and counting from storage treat the same spellings of an
// address as one recipient.
func TestAMarkIsOfEverySpellingOfItsRecipient(t *testing.T) {
	t.Parallel()
	first := markOf(Subject{}, &messages.Event{Type: messages.Open, MessageID: "m", Recipient: "ann@xn--mnchen-3ya.example"})
	for spelled, same := range map[string]bool{"Ann@m\u00fcnchen.example": true, "ann@XN--MNCHEN-3YA.example": true, "bob@xn--mnchen-3ya.example": false} {
		if got := markOf(Subject{}, &messages.Event{Type: messages.Open, MessageID: "m", Recipient: spelled}); (got == first) != same {
			t.Errorf("%s has the same mark: %v", spelled, got == first)
		}
	}
}
