package testsends

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Addresses returns the addresses of a test send in the form in which mail is sent to them.
// It fails with core.CodeValidationFailed for texts that are no addresses, and for an
// address that is named twice.
func Addresses(recipients []string) ([]string, error) {
	var faults []core.FieldError
	var addresses []string
	seen := map[string]bool{}
	for i, r := range recipients {
		address, ok := core.CanonicalEmail(r)
		switch key := core.EmailKey(r); {
		case !ok:
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("recipients.%d", i), Reason: "is not an address such as ada@example.com"})
		case seen[key]:
			faults = append(faults, core.FieldError{Field: fmt.Sprintf("recipients.%d", i), Reason: "is an address that is named twice"})
		default:
			seen[key] = true
			addresses = append(addresses, address)
		}
	}
	if len(faults) > 0 {
		return nil, core.InvalidFields(faults...)
	}
	return addresses, nil
}
