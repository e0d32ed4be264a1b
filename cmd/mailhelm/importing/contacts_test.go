package importing

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/contactfile"
)

// TestErrorsNameFlags checks that errors about columns name the flags that avoid them, and
// that the errors of core/contactfile, which pages show too, name no flag.
func TestErrorsNameFlags(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"plan":              "no column is email or external_id: map one with --map 'Header=email'",
		"email,Other,Third": `these columns are neither a field nor a registered attribute: "Other", "Third": map them with --map, or ignore them with --ignore-unknown`,
		"email,E-Mail":      `the columns "email" and "E-Mail" both map to email: ignore one of them with --map 'E-Mail='`,
		"\x1f\x8b":          "the file is compressed with gzip: unpack it",
	} {
		_, err := contactfile.Open(strings.NewReader(header+"\n"), contactfile.Config{Attributes: []string{"plan"}})
		if err == nil || strings.Contains(err.Error(), "--") || withFlags(err).Error() != want {
			t.Errorf("%q: %v, with flags %v", header, err, withFlags(err))
		}
	}
}
