package passwords

import (
	"github.com/mailhelm/mailhelm/core"
)

// CheckNew refuses, with core.CodeValidationFailed, a password that the person
// with this address should not choose; see [Check]. Whatever sets a password
// asks it.
func CheckNew(password, email string) error {
	refused := Check(password, email)
	if refused == nil {
		return nil
	}
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "The password " + refused.Reason + ".", Next: refused.Next,
		Fields: []core.FieldError{{Field: "password", Reason: refused.Reason}},
	}
}
