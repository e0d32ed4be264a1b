package mask_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mask"
)

// TestARecipientThatIsNotUTF8 checks that a recipient with bytes outside UTF-8 does not stop
// the masking of the other recipients' names in the same text. Its own address and name must
// be masked too, also where a JSON encoder has replaced the bytes with U+FFFD.
func TestARecipientThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	m := mask.For(&core.Call{}, "bj\xf8rn@example.com", "eve.adams@example.com", "zoe\xff\xfe@example.com")
	for text, want := range map[string]string{
		"mailbox of Eve.Adams is full":            "mailbox of E*** is full",
		"mailbox of bj\xf8rn is full":             "mailbox of b*** is full",
		"mailbox of bj\uFFFDrn is full":           "mailbox of b*** is full",
		"user bj\xf8rn@example.com is unknown":    "user b***@example.com is unknown",
		"user bj\uFFFDrn@example.com is unknown":  "user b***@example.com is unknown",
		"users zoe\xff\xfe@example.com eve.adams": "users z***@example.com e***",
	} {
		if got := m.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
