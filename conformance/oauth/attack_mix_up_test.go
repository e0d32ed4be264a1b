package oauth_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"
)

// audienceOfAnswer checks the parameters of an authorization answer as a client that uses
// several authorization servers must (RFC 9207 section 2.4). expected is the issuer of the
// server to which the client sent its request, and state is the request's state. promised
// says whether the server's metadata announces the iss parameter.
func audienceOfAnswer(answer url.Values, expected, state string, promised bool) error {
	switch {
	case len(answer["iss"]) > 1 || len(answer["state"]) > 1 || len(answer["code"]) > 1 || len(answer["error"]) > 1:
		return errors.New("a parameter occurs twice")
	case promised && !answer.Has("iss"):
		return errors.New("no iss, although the server promises one")
	case answer.Has("iss") && answer.Get("iss") != expected:
		return errors.New("the answer of another server")
	case answer.Get("state") != state:
		return errors.New("the answer to another request")
	case answer.Has("code") == answer.Has("error"):
		return errors.New("neither a code nor an error alone")
	}
	return nil
}

// TestAttackMixUp checks that every authorization answer has the issuer that the metadata
// states. By the issuer, a client detects an answer of another server (mix-up attack).
func TestAttackMixUp(t *testing.T) {
	t.Parallel()
	scenesOnce(t, func(t *testing.T, s *scene) {
		metadata := s.send(s.p.HTTP, http.MethodGet, s.p.AuthURL+"/.well-known/oauth-authorization-server", "")
		var promises struct {
			Issuer string `json:"issuer"`
			Iss    bool   `json:"authorization_response_iss_parameter_supported"`
		}
		metadata.decode(t, &promises)
		if promises.Issuer != s.p.AuthURL || !promises.Iss {
			t.Fatalf("metadata %+v", promises)
		}
		victim := s.signedIn()
		faulty := s.get(victim, "/oauth/authorize?"+query(s.app, "scope", "openid"))
		location, err := url.Parse(faulty.header.Get("Location"))
		s.must(err)
		for name, back := range map[string]*url.URL{
			"success":     s.decide(victim, query(s.app), "approve"),
			"declined":    s.decide(victim, query(s.app), "deny"),
			"faulty":      location,
			"in the path": s.decide(victim, query(s.app, "state", "s 1&", "iss", "https://evil.example"), "approve"),
		} {
			t.Run(name, func(t *testing.T) {
				if err := audienceOfAnswer(back.Query(), promises.Issuer, "s 1&", promises.Iss); err != nil {
					t.Errorf("%s: %v", back, err)
				}
				for _, other := range []string{"https://evil.example", s.p.AuthURL + "/", s.p.BaseURL, s.p.MCPURL, ""} {
					if audienceOfAnswer(back.Query(), other, "s 1&", true) == nil {
						t.Errorf("a client of %q takes %s for its own answer", other, back)
					}
				}
			})
		}
	})
}
