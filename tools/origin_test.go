package tools

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOriginsAreAsBrowsersWriteThem checks that newOriginSet converts configured addresses
// to the form of the Origin headers of browsers, and that it refuses addresses that are not
// origins.
func TestOriginsAreAsBrowsersWriteThem(t *testing.T) {
	t.Parallel()
	set, err := newOriginSet("http://127.0.0.1:8082", []string{
		"https://Inspector.Example", "https://default.example:443/", "http://default.example:80", "https://other.example:8443", "http://[::1]:80",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"http://127.0.0.1:8082", "http://[::1]", "http://default.example", "https://default.example", "https://inspector.example", "https://other.example:8443",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(set))); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range []string{"*", "null", "", "inspector.example", "https://"} {
		if _, err := newOriginSet("http://127.0.0.1:8082", []string{wrong}); err == nil {
			t.Errorf("%q was taken for an origin", wrong)
		}
	}
}
