package signin_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/connectingtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/discovery"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/signin"
	"github.com/mailhelm/mailhelm/core"
)

// asking returns a sign-in at the server whose browser is open.
func asking(t *testing.T, s *connectingtest.Server, open func(address string) error) signin.Asking {
	t.Helper()
	found, err := discovery.Find(t.Context(), s.Address())
	if err != nil {
		t.Fatal(err)
	}
	return signin.Asking{Clock: core.SystemClock, Server: found, Show: func(string) {}, Open: open}
}

// get opens an address and returns the status.
func get(t *testing.T, address string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := (&http.Client{}).Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	shown := ""
	a := asking(t, s, func(address string) error {
		q := parse(t, address)
		if address != shown || q.Get("client_id") != "registered" || q.Get("resource") != s.URL || q.Get("code_challenge_method") != "S256" || q.Get("scope") != "api.lists.view" {
			t.Errorf("opened %s", address)
		}
		redirect := q.Get("redirect_uri")
		if !strings.HasPrefix(redirect, "http://127.0.0.1:") {
			t.Errorf("redirect to %s", redirect)
		}
		// Pages that guess the port must not end the sign-in.
		for _, guess := range []string{"?code=x", "?code=x&state=guess", "?error=access_denied", "/other?code=x&state=" + q.Get("state")} {
			if got := get(t, redirect+guess); got != http.StatusBadRequest {
				t.Errorf("%s: %d", guess, got)
			}
		}
		if got := get(t, address); got != http.StatusOK {
			t.Errorf("after the sign-in: %d", got)
		}
		return nil
	})
	a.Show = func(address string) { shown = address }
	got, err := a.Run(t.Context())
	if err != nil || got.ClientID != "registered" || got.Token.Access == "" || got.Token.Refresh == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func parse(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

func TestAnswersThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer url.Values
		says   string
	}{
		"the person refuses": {url.Values{"error": {"access_denied"}}, "refused in the browser"},
		"another error":      {url.Values{"error": {"invalid_scope"}, "error_description": {"No such scope."}}, "No such scope."},
		"another issuer":     {url.Values{"code": {"c"}, "iss": {"https://other.example"}}, "https://other.example"},
		"no issuer":          {url.Values{"code": {"c"}, "iss": {""}}, "names the authorization server"},
		"another code":       {url.Values{"code": {"guess"}}, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectingtest.Start(t)
			_, err := asking(t, s, func(address string) error {
				q := parse(t, address)
				tc.answer.Set("state", q.Get("state"))
				if !tc.answer.Has("iss") {
					tc.answer.Set("iss", s.URL)
				}
				get(t, q.Get("redirect_uri")+"?"+tc.answer.Encode())
				return nil
			}).Run(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, want %q", err, tc.says)
			}
		})
	}
}

func TestSignInEnds(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := asking(t, s, func(string) error { cancel(); return nil }).Run(ctx)
	if err == nil || err.Error() != context.Canceled.Error() {
		t.Errorf("%v", err)
	}
}

func TestNoRegistration(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	s.Change = func(d map[string]any) { delete(d, "registration_endpoint") }
	a := asking(t, s, nil)
	if _, err := a.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "--client-id") {
		t.Errorf("%v", err)
	}
	a.ClientID = "https://client.example/document.json"
	a.Open = func(address string) error {
		if got := parse(t, address).Get("client_id"); got != a.ClientID {
			t.Errorf("client %s", got)
		}
		get(t, address)
		return nil
	}
	if got, err := a.Run(t.Context()); err != nil || got.ClientID != a.ClientID {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOnlyWebAddressesAreOpened checks that no address reaches the system's opener that could
// start another program, even if the caller has not checked the metadata.
func TestOnlyWebAddressesAreOpened(t *testing.T) {
	t.Parallel()
	s := connectingtest.Start(t)
	for _, address := range []string{"file://localhost/bin/sh", "anyhandler://localhost/x", "http://other.example/x", ""} {
		a := asking(t, s, func(opened string) error { t.Errorf("opened %s", opened); return nil })
		a.Show = func(shown string) { t.Errorf("showed %s", shown) }
		a.Server.Metadata.AuthorizationEndpoint = address
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := a.Run(ctx); err == nil || !strings.Contains(err.Error(), "authorization_endpoint") {
			t.Errorf("%q: %v", address, err)
		}
		cancel()
	}
}
