package sending_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
)

func TestRolesAreAsLongAsTheProviderTakesThem(t *testing.T) {
	t.Parallel()
	const account = "arn:aws:iam::123456789012:role/"
	for role, want := range map[string]bool{
		account + "mailhelm":                     true,
		account + "teams/mail:role/x":            false,
		account + strings.Repeat("r", 576):       true,
		account + strings.Repeat("r", 577):       false,
		account:                                  false,
		"arn:aws:iam::12345:role/mailhelm":       false,
		"mailhelm":                               false,
		strings.Repeat("r", 577):                 false,
		"arn:aws-cn:iam::123456789012:role/a/b":  true,
		"arn:aws:iam::123456789012:role/a\nb":    false,
		"arn:aws:iam::123456789012:user/a:role/": false,
	} {
		if got := sending.IsRoleARN(role); got != want {
			t.Errorf("%.60s (%d bytes): %t", role, len(role), got)
		}
	}
}
