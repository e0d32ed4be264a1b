package consent_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/oauth/consent"
)

func TestRequestsThatMustNotRedirect(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for name, query := range map[string]string{
		"nothing":          "",
		"unknown client":   o.request("client_id", "oc_live_ABCDEFGHIJKLMNOP"),
		"unknown redirect": o.request("redirect_uri", "https://evil.test/callback"),
		"damaged":          "%zz",
	} {
		for _, b := range []*browser{{office: o}, o.signedIn()} {
			r := b.send("GET", consent.Path+"?"+query, nil)
			if page := r.body; r.StatusCode != http.StatusBadRequest || r.Header.Get("Location") != "" || strings.Contains(page, "evil.test") {
				t.Errorf("%s: %d to %q", name, r.StatusCode, r.Header.Get("Location"))
			}
		}
	}
}

func TestOtherFaultsAreReturnedToTheClient(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := &browser{office: o}
	r := b.send("GET", consent.Path+"?"+o.request("code_challenge_method", "plain"), nil)
	to, parameters := location(t, r)
	if r.StatusCode != http.StatusSeeOther || to != redirect || parameters.Get("error") != "invalid_request" {
		t.Errorf("%d to %s with %v", r.StatusCode, to, parameters)
	}
	if r.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Error("the redirect tells where it comes from")
	}
}

func TestHeadersOfThePage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	for redirectURI, target := range map[string]string{
		redirect:                    "https://client.test",
		"http://localhost:51234/cb": "http://localhost:51234",
		"http://[::1]:51234/cb":     "http:",
	} {
		r := b.send("GET", consent.Path+"?"+o.request("redirect_uri", redirectURI), nil)
		for header, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self' " + target + "; base-uri 'none'; frame-ancestors 'none'",
			"X-Frame-Options":         "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := r.Header.Get(header); got != want {
				t.Errorf("%s: %s: %q, want %q", redirectURI, header, got, want)
			}
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	b := o.signedIn()
	for _, method := range []string{"HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		r := b.send(method, consent.Path+"?"+o.request(), nil, "Sec-Fetch-Site", "same-origin")
		if r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, POST" || r.Header.Get("Location") != "" {
			t.Errorf("%s: %d, Allow %q", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
}
