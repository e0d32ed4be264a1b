package guardrails

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

func TestBearerCredential(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers []string
		want    string // expected credential; "" if the header must be refused
	}{
		"plain":              {[]string{"Bearer abc.def-_~+/="}, "abc.def-_~+/="},
		"any case of scheme": {[]string{"bEARER abc"}, "abc"},
		"several spaces":     {[]string{"Bearer   abc"}, "abc"},
		"no header":          {nil, ""},
		"two headers":        {[]string{"Bearer abc", "Bearer abc"}, ""},
		"empty header":       {[]string{""}, ""},
		"scheme only":        {[]string{"Bearer"}, ""},
		"no credential":      {[]string{"Bearer "}, ""},
		"other scheme":       {[]string{"Basic abc"}, ""},
		"no scheme":          {[]string{"abc"}, ""},
		"two credentials":    {[]string{"Bearer abc def"}, ""},
		"two in one header":  {[]string{"Bearer abc, Bearer def"}, ""},
		"padding in between": {[]string{"Bearer ab=c"}, ""},
		"padding alone":      {[]string{"Bearer =="}, ""},
		"quoted":             {[]string{`Bearer "abc"`}, ""},
		"control character":  {[]string{"Bearer abc\x00"}, ""},
		"not ASCII":          {[]string{"Bearer abç"}, ""},
	} {
		got, err := bearerCredential(c.headers)
		if got != c.want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if c.want == "" && (err == nil || core.AsError(err).Code != core.CodeInvalidKey) {
			t.Errorf("%s: error %v, want invalid_key", name, err)
		}
	}
}

// FuzzCredential checks that the parsers of credentials do not panic on any text, and that
// the texts they accept have the form of a credential.
func FuzzCredential(f *testing.F) {
	for _, seed := range []string{
		"", "Bearer ", "Bearer x", "bearer  eyJ.e30.c2ln", "Basic b2M6b2Nz", "Bearer a b", "Bearer =",
		"Bearer " + access.MintAPIKey(core.Live).Secret, "Bearer sk_test_\xff", "Bearer\tx",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		credential, err := bearerCredential([]string{header})
		if (err == nil) == (credential == "") {
			t.Fatalf("%q: credential %q with error %v", header, credential, err)
		}
		if err != nil {
			if core.AsError(err).Code != core.CodeInvalidKey {
				t.Fatalf("%q: %v", header, err)
			}
			return
		}
		if strings.ContainsAny(credential, " \t\r\n\x00\"") || !strings.HasSuffix(header, credential) {
			t.Fatalf("%q: credential %q", header, credential)
		}
		if name, ok := access.ParseAPIKey(credential); ok && !strings.HasPrefix(credential, name.String()) {
			t.Fatalf("%q: name %q", credential, name)
		}
	})
}
