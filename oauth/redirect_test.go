package oauth

import (
	"net/url"
	"testing"
)

func TestAnswersKeepTheQueryOfTheRedirectURI(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://app.example":          "https://app.example?code=a%26b",
		"https://app.example/cb":       "https://app.example/cb?code=a%26b",
		"https://app.example/cb?":      "https://app.example/cb?code=a%26b",
		"https://app.example/cb?x=%2f": "https://app.example/cb?x=%2f&code=a%26b",
		"https://app.example/cb?x&":    "https://app.example/cb?x&code=a%26b",
	} {
		if got := withParameters(uri, url.Values{"code": {"a&b"}}); got != want {
			t.Errorf("%s: %s", uri, got)
		}
	}
}
