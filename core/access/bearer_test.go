package access_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		headers []string
		want    string // expected credential; "" if the header must be refused
	}{
		"plain":               {[]string{"Bearer abc.def-_~+/="}, "abc.def-_~+/="},
		"any case of scheme":  {[]string{"bEARER abc"}, "abc"},
		"several spaces":      {[]string{"Bearer   abc"}, "abc"},
		"no header":           {nil, ""},
		"two headers":         {[]string{"Bearer abc", "Bearer abc"}, ""},
		"empty header":        {[]string{""}, ""},
		"scheme only":         {[]string{"Bearer"}, ""},
		"no credential":       {[]string{"Bearer "}, ""},
		"other scheme":        {[]string{"Basic abc"}, ""},
		"no scheme":           {[]string{"abc"}, ""},
		"two credentials":     {[]string{"Bearer abc def"}, ""},
		"two in one header":   {[]string{"Bearer abc, Bearer def"}, ""},
		"padding in between":  {[]string{"Bearer ab=c"}, ""},
		"padding alone":       {[]string{"Bearer =="}, ""},
		"quoted":              {[]string{`Bearer "abc"`}, ""},
		"control character":   {[]string{"Bearer abc\x00"}, ""},
		"not ASCII":           {[]string{"Bearer abç"}, ""},
		"longer than allowed": {[]string{"Bearer " + strings.Repeat("a", 8<<10+1)}, ""},
	} {
		got, err := access.Bearer(c.headers)
		if got != c.want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if c.want == "" && (err == nil || core.AsError(err).Code != core.CodeInvalidKey) {
			t.Errorf("%s: error %v, want invalid_key", name, err)
		}
	}
}
