package browser_test

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/conformance/browser"
)

// openSignedIn opens a page of the app and signs in on the sign-in page that the app shows
// first.
func (s *scene) openSignedIn(tab *browser.Tab, path string) {
	s.t.Helper()
	tab.Go(s.p.AppURL + path)
	s.signIn(tab)
}

// choose clicks a checkbox or radio button of a form. It opens the folded section around
// the control first.
func choose(tab *browser.Tab, selector string) {
	tab.Unfold(selector)
	tab.Mark(selector)
}

// calls sends a GET request to the API with a key and checks the status of the answer.
func (s *scene) calls(key, path string, want int) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.p.BaseURL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	s.answers("call of "+path, r, want)
}

// issues requests an access token with client_credentials, and checks that the status of
// the answer is want.
func (s *scene) issues(clientID, secret string, want int) {
	s.t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {s.p.BaseURL}}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.p.AuthURL+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.SetBasicAuth(clientID, secret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	s.answers("token of "+clientID, r, want)
}

func (s *scene) answers(what string, r *http.Request, want int) {
	s.t.Helper()
	answer, err := s.p.HTTP.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = answer.Body.Close() // only the status of the answer is checked
	if answer.StatusCode != want {
		s.t.Errorf("%s: %d, want %d", what, answer.StatusCode, want)
	}
}

// once returns the secret that the page shows. It clicks the element with the selector
// goOn, which leads to another page. Neither that page nor a reload of the first page may
// show the secret again.
func (s *scene) once(tab *browser.Tab, goOn string) string {
	s.t.Helper()
	secret := tab.Read("pre.secret code")
	shown := tab.Address().String()
	tab.Submit(goOn)
	for _, address := range []string{"", shown} {
		if address != "" {
			tab.Go(address)
		}
		if secret == "" || strings.Contains(tab.Text(), secret) {
			s.t.Errorf("%s shows %q again", tab.Address(), secret)
		}
	}
	return secret
}
