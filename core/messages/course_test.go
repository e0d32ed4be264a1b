package messages

import "testing"

// TestACourseHasAllSpellingsOfItsRecipient checks that events belong to one recipient even
// if they spell the domain of the address in different ways.
func TestACourseHasAllSpellingsOfItsRecipient(t *testing.T) {
	t.Parallel()
	m := Message{To: "ann@xn--mnchen-3ya.example"}
	all := coursesOf(m, []Event{{Type: Delivery, Recipient: "Ann@m\u00fcnchen.example"}, {Type: Open, Recipient: "ann@XN--mnchen-3ya.example"}})
	if len(all) != 1 || len(all[0].events) != 2 || all[0].recipient != m.To {
		t.Errorf("%d courses, the first %+v", len(all), all[0])
	}
}
