package access_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

func TestMintedSecretsHaveTheirFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value, want string
	}{
		{"live key", access.MintAPIKey(core.Live).Secret, `^sk_live_[A-Z2-7]{52}$`},
		{"test key", access.MintAPIKey(core.Test).Secret, `^sk_test_[A-Z2-7]{52}$`},
		{"live client id", access.MintClientID(core.Live), `^oc_live_[A-Z2-7]{26}$`},
		{"test client id", access.MintClientID(core.Test), `^oc_test_[A-Z2-7]{26}$`},
		{"client secret", access.MintClientSecret().Secret, `^ocs_[A-Z2-7]{52}$`},
	} {
		if !regexp.MustCompile(c.want).MatchString(c.value) {
			t.Errorf("%s: %q does not match %s", c.name, c.value, c.want)
		}
	}
}

func TestMintedKeyCarriesItsPrefixAndHash(t *testing.T) {
	t.Parallel()
	minted := access.MintAPIKey(core.Test)
	name, ok := access.ParseAPIKey(minted.Secret)
	if !ok || name.Environment != core.Test || name.Prefix != minted.Prefix {
		t.Fatalf("parsed %+v, %v; minted prefix %q", name, ok, minted.Prefix)
	}
	if got, want := name.String(), minted.Secret[:16]; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
	if !access.SecretMatches(minted.Hash, minted.Secret) {
		t.Error("the minted hash does not match the minted secret")
	}
}

func TestParseAPIKeyRefusesWhatWasNeverMinted(t *testing.T) {
	t.Parallel()
	good := access.MintAPIKey(core.Live).Secret
	for name, s := range map[string]string{
		"empty":       "",
		"marker only": "sk_live_",
		"short":       good[:len(good)-1],
		"long":        good + "A",
		"lower case":  strings.ToLower(good),
		"other env":   "sk_prod_" + good[8:],
		"digit one":   good[:59] + "1",
		"padding":     good[:59] + "=",
		"NUL":         good[:59] + "\x00",
		"a client id": access.MintClientID(core.Live),
	} {
		if got, ok := access.ParseAPIKey(s); ok {
			t.Errorf("%s: parsed as %+v", name, got)
		}
	}
}

func TestSecretMatchesOnlyItsOwnHash(t *testing.T) {
	t.Parallel()
	minted := access.MintClientSecret()
	for name, c := range map[string]struct {
		hash   []byte
		secret string
	}{
		"other secret":     {minted.Hash, access.MintClientSecret().Secret},
		"empty secret":     {minted.Hash, ""},
		"no hash":          {nil, minted.Secret},
		"short hash":       {minted.Hash[:31], minted.Secret},
		"no hash, nothing": {nil, ""},
		"zero hash":        {make([]byte, 32), ""},
	} {
		if access.SecretMatches(c.hash, c.secret) {
			t.Errorf("%s: matches", name)
		}
	}
}

func TestIsClientID(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		access.MintClientID(core.Live):        true,
		"oc_test_demo-1":                      true,
		"oc_live_":                            false,
		"oc_prod_abc":                         false,
		"":                                    false,
		"oc_live_a b":                         false,
		"oc_live_%61":                         false,
		"oc_live_" + strings.Repeat("a", 121): false,
		access.MintClientSecret().Secret:      false,
		"https://client.example/meta.json":    false,
	} {
		if got := access.IsClientID(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
