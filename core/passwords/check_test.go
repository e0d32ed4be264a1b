package passwords_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/passwords"
)

//go:embed frequent.txt
var frequent string

func TestCheck(t *testing.T) {
	t.Parallel()
	const email = "Ada.Lovelace+work@mail.Acme-Tools.example.com"
	for password, says := range map[string]string{
		"correct horse battery": "",
		// accepted: acme and ada are only fragments of address parts, and com is the
		// top-level domain
		"acme and com and ada":      "",
		"ällerlei Wörter, gemischt": "",
		"1234567":                   "from 8 to 1024",
		"":                          "from 8 to 1024",
		strings.Repeat("x", 1025):   "from 8 to 1024",
		"äöüßé":                     "from 8 to 1024", // 10 bytes, 5 characters
		strings.Repeat("語", 1025):   "from 8 to 1024",
		strings.Repeat("語", 1024):   "",
		"password1":                 "most common",
		"PassWord1":                 "most common",
		"ｐａｓｓｗｏｒｄ１":                 "most common", // full width
		"my-Mailhelm-2026":          `"mailhelm"`,
		"ada.lovelace 1815":         `"ada.lovelace"`,
		"x-ADA.lovelace+WORK-x":     `"ada.lovelace`,
		"acme-tools are great":      `"acme-tools"`,
		"for example a long one":    `"example"`,
		"ada.ｌｏｖｅｌａｃｅ, full width": `"ada.lovelace"`,
	} {
		refused := passwords.Check(password, email)
		if says == "" {
			if refused != nil {
				t.Errorf("%q: %v", password, refused)
			}
			continue
		}
		if refused == nil || !strings.Contains(refused.Reason, says) || refused.Next == "" {
			t.Errorf("%q: %v, want a refusal with %q", password, refused, says)
		}
	}
	if err := passwords.Check("correct horse battery", ""); err != nil {
		t.Errorf("without an address: %v", err)
	}
}

// TestEachFrequentPasswordIsRefused checks that every password of the list of frequent
// passwords is refused. A longer password that begins with a listed one must be accepted.
func TestEachFrequentPasswordIsRefused(t *testing.T) {
	t.Parallel()
	listed := strings.Fields(frequent)
	if len(listed) != 10_000 || !slices.IsSorted(listed) {
		t.Fatalf("%d passwords are listed, sorted: %v", len(listed), slices.IsSorted(listed))
	}
	for _, password := range listed {
		want := "most common"
		if utf8.RuneCountInString(password) < passwords.Least {
			want = "from 8"
		}
		if err := passwords.Check(password, ""); err == nil || !strings.Contains(err.Reason, want) {
			t.Errorf("%q: %v", password, err)
		}
		if err := passwords.Check(password+" and a word", ""); err != nil {
			t.Errorf("%q with more: %v", password, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("password1", "a@example.com")
	f.Add("\xff\xfe", "@")
	f.Fuzz(func(t *testing.T, password, email string) {
		if err := passwords.Check(password, email); err == nil && (utf8.RuneCountInString(password) < passwords.Least || slices.Contains(strings.Fields(frequent), password)) {
			t.Errorf("%q passes", password)
		}
	})
}
