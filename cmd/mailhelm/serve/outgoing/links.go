package outgoing

import (
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

// Links makes the links of recipients; it is a [broadcasts.Links].
type Links struct{ Signed *unsubscribe.Links }

// Links returns the links of one recipient of a send.
func (l Links) Links(orgID, contactID, topic, sendID string) (composition.Links, error) {
	link, err := l.Signed.For(orgID, unsubscribe.Recipient{ContactID: contactID, SendID: sendID, Topic: topic})
	if err != nil {
		return composition.Links{}, err
	}
	return composition.Links{Unsubscribe: link.Unsubscribe, Preferences: link.Preferences, Headers: link.Headers()}, nil
}
