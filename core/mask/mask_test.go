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

// TestNamesThatBeginOrEndOutsideASCII checks that a recipient's name is masked where it is
// a whole word, even if its first or last character is not ASCII, and that longer words
// that contain a name stay. In a script that does not separate words, a name is masked
// anywhere.
func TestNamesThatBeginOrEndOutsideASCII(t *testing.T) {
	t.Parallel()
	m := mask.For(&core.Call{}, "rené@example.com", "émile@example.com", "田中@example.com", "ann@example.com", "ann+b+@example.com")
	for text, want := range map[string]string{
		"mailbox of René is full":       "mailbox of R*** is full",
		"no mailbox for rené":           "no mailbox for r***",
		"rené, rené rené":               "r***, r*** r***",
		"mailbox of Émile is full":      "mailbox of É*** is full",
		"(émile) is unknown":            "(é***) is unknown",
		"the words renée and xémile":    "the words renée and xémile",
		"mailbox 田中様 is full":           "mailbox 田***様 is full",
		"users anna, Ann and ann-marie": "users anna, A*** and a***-marie",
		"user ann+b+ is unknown":        "user a*** is unknown",
		"user ann+b+x is unknown":       "user a***x is unknown",
	} {
		if got := m.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
