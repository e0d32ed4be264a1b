package oauth_test

import (
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

func TestResourceIndicator(t *testing.T) {
	t.Parallel()
	protocol(t, func(t *testing.T, w *world) {
		for name, c := range map[string]struct {
			resources []string
			want      string // "" when refused
		}{
			"omitted":                      {nil, apiResource},
			"empty":                        {[]string{""}, apiResource},
			"the default":                  {[]string{apiResource}, apiResource},
			"the agent endpoint":           {[]string{agentResource}, agentResource},
			"trailing slash":               {[]string{agentResource + "/"}, agentResource},
			"host in capitals":             {[]string{"http://LOCALHOST:8082"}, agentResource},
			"scheme in capitals":           {[]string{"HTTP://localhost:8082"}, agentResource},
			"twice the same":               {[]string{agentResource, agentResource}, agentResource},
			"twice in two spellings":       {[]string{agentResource, "http://LocalHost:8082/"}, agentResource},
			"once and empty":               {[]string{"", agentResource}, agentResource},
			"twice different":              {[]string{agentResource, apiResource}, ""},
			"known and unknown":            {[]string{apiResource, "http://localhost:9"}, ""},
			"unknown":                      {[]string{"http://localhost:9999"}, ""},
			"fragment":                     {[]string{agentResource + "#a"}, ""},
			"empty fragment":               {[]string{agentResource + "#"}, ""},
			"query":                        {[]string{agentResource + "?a=b"}, ""},
			"empty query":                  {[]string{agentResource + "?"}, ""},
			"relative":                     {[]string{"/mcp"}, ""},
			"no scheme":                    {[]string{"localhost:8082"}, ""},
			"scheme-relative":              {[]string{"//localhost:8082"}, ""},
			"other scheme":                 {[]string{"https://localhost:8082"}, ""},
			"user":                         {[]string{"http://a@localhost:8082"}, ""},
			"a path below":                 {[]string{agentResource + "/other"}, ""},
			"two slashes":                  {[]string{agentResource + "//"}, ""},
			"longer host":                  {[]string{"http://localhost.example:8082"}, ""},
			"longer port":                  {[]string{agentResource + "0"}, ""},
			"space in front":               {[]string{" " + agentResource}, ""},
			"not a URL":                    {[]string{"http://%zz"}, ""},
			"a list in one value":          {[]string{agentResource + " " + apiResource}, ""},
			"percent-encoded host":         {[]string{"http://%6cocalhost:8082"}, ""},
			"another address of this host": {[]string{"http://127.0.0.1:8082"}, ""},
		} {
			var pairs []string
			for _, r := range c.resources {
				pairs = append(pairs, "resource", r)
			}
			a := w.token(w.live, pairs...)
			if c.want == "" {
				if a.Error != "invalid_target" {
					t.Errorf("%s: %d %s", name, a.status, a.body)
				}
				w.expectError(a, http.StatusBadRequest, "invalid_target")
				continue
			}
			if a.status != http.StatusOK {
				t.Errorf("%s: %d %s", name, a.status, a.body)
				continue
			}
			if got := w.claimsOf(a.AccessToken, 1)["aud"]; got != c.want {
				t.Errorf("%s: aud %v", name, got)
			}
		}
	})
}

func TestTokenIsGoodAtItsOwnResourceOnly(t *testing.T) {
	t.Parallel()
	once(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			address      string
			own, foreign access.Resource
		}{
			{apiResource, access.API, access.Agent},
			{agentResource, access.Agent, access.API},
		} {
			token := w.goodToken(w.live, "resource", c.address)
			// In the second round the token is in the cache. Each round uses the token at the
			// wrong resource and at its own.
			for range 2 {
				if _, err := w.auth.Authenticate(t.Context(), token, c.foreign); core.AsError(err).Code != core.CodeInvalidKey {
					t.Errorf("%s: the other resource says %v", c.address, err)
				}
				p, err := w.auth.Authenticate(t.Context(), token, c.own)
				if err != nil || p.Org.ID != w.live.OrgID || p.Credential.Name != w.live.ClientID {
					t.Errorf("%s: its own resource says %+v, %v", c.address, p, err)
				}
			}
		}
	})
}
