package contacts

import (
	"encoding/json"

	"github.com/mailhelm/mailhelm/core/consent"
)

// EncodeChanges returns the changes of a contact's consent as JSON. It is short for most
// contacts, which have no explicit choice.
func EncodeChanges(c consent.Changes) string {
	if c.UnsubscribeAll == nil && len(c.Topics) == 0 {
		return emptyObject
	}
	b, _ := json.Marshal(c) // a struct of texts and numbers can be encoded
	return string(b)
}

// decodeChanges parses the JSON of EncodeChanges.
func decodeChanges(stored string) (consent.Changes, error) {
	var c consent.Changes
	if stored == emptyObject {
		return c, nil
	}
	err := json.Unmarshal([]byte(stored), &c)
	return c, err
}
