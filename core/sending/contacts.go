package sending

import (
	"errors"
	"fmt"
	"strings"
)

// MaxContacts is the maximum number of contacts in one call of PutContacts.
const MaxContacts = 1000

// CheckContacts fails with Invalid if there are more than MaxContacts contacts or if two
// have the same address, ignoring case.
func CheckContacts(contacts []Contact) error {
	if n := len(contacts); n > MaxContacts {
		return &Failure{Kind: Invalid, Err: fmt.Errorf("%d contacts at once, more than %d", n, MaxContacts)}
	}
	seen := make(map[string]bool, len(contacts))
	for _, c := range contacts {
		key := strings.ToLower(c.Email)
		if seen[key] {
			return &Failure{Kind: Invalid, Err: errors.New("two contacts of one address")}
		}
		seen[key] = true
	}
	return nil
}
