package access

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/passwords"
)

// CheckNewPassword refuses, with core.CodeValidationFailed, a password that the person
// with this address should not choose; see [passwords.Check]. Whatever sets a password
// asks it.
func CheckNewPassword(password, email string) error {
	refused := passwords.Check(password, email)
	if refused == nil {
		return nil
	}
	return &core.Error{
		Code: core.CodeValidationFailed, Message: "The password " + refused.Reason + ".", Next: refused.Next,
		Fields: []core.FieldError{{Field: "password", Reason: refused.Reason}},
	}
}
