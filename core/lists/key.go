package lists

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

const longestKey = 64

// checkKey fails with core.CodeValidationFailed if the key is empty, has more than 64
// characters, or has characters other than lower-case letters, digits, hyphens and
// underscores. It also fails if the key does not begin with a letter or digit, or has the
// form of an id.
func checkKey(key string) error {
	wrong := func(r rune) bool { return !isKeyLetter(r) && r != '-' && r != '_' }
	switch {
	case key == "" || len(key) > longestKey || strings.ContainsFunc(key, wrong) || !isKeyLetter(rune(key[0])):
		return core.Invalid("key", "must be at most 64 lower-case letters, digits, hyphens and underscores and begin with a letter or digit")
	case core.IsID(key):
		return core.Invalid("key", "must not have the form of an id")
	}
	return nil
}

func isKeyLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// slugOf returns a list key made from a name: lower case, with a hyphen for each run of
// other characters than ASCII letters and digits. It returns "" if the name has no ASCII
// letter or digit.
func slugOf(name string) string {
	var slug strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case slug.Len() >= longestKey:
		case isKeyLetter(r):
			slug.WriteRune(r)
		case slug.Len() > 0 && !strings.HasSuffix(slug.String(), "-"):
			slug.WriteByte('-')
		}
	}
	return strings.TrimRight(slug.String(), "-")
}
