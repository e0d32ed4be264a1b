package access

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// LeastPassword is in bytes; NIST SP 800-63B section 3.1.1.2 asks for at least
// 8 characters where a second factor stands beside the password.
const LeastPassword = 8

// CheckNewPassword refuses, with core.CodeValidationFailed, a password that nobody
// should choose or that is too long to hash.
func CheckNewPassword(password string) error {
	if len(password) < LeastPassword || len(password) > maxPassword {
		return core.Invalid("password", fmt.Sprintf("must have from %d to %d characters", LeastPassword, maxPassword))
	}
	return nil
}
