package passwords

import (
	"github.com/mailhelm/mailhelm/core"
)

// CheckNew fails with core.CodeValidationFailed if the user with this email address must
// not choose the password; see [Check]. Every operation that sets a password calls it.
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
