package local

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/git"
)

func TestPageOnGitHub(t *testing.T) {
	t.Parallel()
	const page = "https://github.com/acme/mail.definitions"
	for location, want := range map[string]string{
		"https://github.com/acme/mail.definitions": page, "https://github.com/acme/mail.definitions.git": page, "https://GitHub.com:443/acme/mail.definitions.git/": page,
		"https://github.com/acme": "", "https://github.com/acme/a/b": "", "https://github.com/acme/a%2Fb": "", "https://github.com/acme/..": "", "https://github.com/acme/.": "",
		"https://github.com/acme/.github.git": "https://github.com/acme/.github",
		"https://github.com:8443/acme/a.git":  "", "https://github.com.example/acme/a.git": "", "https://git.example.com/acme/a.git": "",
	} {
		if got := pageOnGitHub(git.Connection{Kind: git.Remote, Location: location}); got != want {
			t.Errorf("%s: %q, want %q", location, got, want)
		}
	}
	if got := pageOnGitHub(git.Connection{Kind: git.Local, Location: "/github.com/acme/a.git"}); got != "" {
		t.Errorf("a folder: %q", got)
	}
}
