package bundling

import "testing"

func TestSentence(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"":                            "",
		"is missing":                  "Is missing.",
		"Is missing.":                 "Is missing.",
		`Did you mean "first_name"?`:  `Did you mean "first_name"?`,
		"`slug` must have characters": "`slug` must have characters.",
	} {
		if got := sentence(message); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
}
