package reports

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/messages"
)

// TestSpellingsOfAnAddressAreOneRecipient checks that different spellings of one address
// count as one recipient, as they do when events are counted in the database.
func TestSpellingsOfAnAddressAreOneRecipient(t *testing.T) {
	t.Parallel()
	first := markOf(Subject{}, &messages.Event{Type: messages.Open, MessageID: "m", Recipient: "ann@xn--mnchen-3ya.example"})
	for spelled, same := range map[string]bool{"Ann@m\u00fcnchen.example": true, "ann@XN--MNCHEN-3YA.example": true, "bob@xn--mnchen-3ya.example": false} {
		if got := markOf(Subject{}, &messages.Event{Type: messages.Open, MessageID: "m", Recipient: spelled}); (got == first) != same {
			t.Errorf("%s has the same mark: %v", spelled, got == first)
		}
	}
}
