package login

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core/people"
)

// cookie is how a secret is kept in the browser.
//
// Over https it has the prefix __Host-, with which a browser takes it only when
// it is Secure, for the whole host and for no other host, so neither a sibling
// host nor an attacker on the network can plant one (RFC 6265bis section 4.1.3.2).
//
// On http://localhost it has neither the prefix nor Secure. Chromium and Firefox
// would take Secure there, Safari and programs that follow RFC 6265 would not
// send it back, and what goes from a machine to itself passes no network.
type cookie struct {
	name   string
	secure bool
	life   time.Duration
}

// cookies are those that the pages keep in a browser: the session, and the device,
// with which a person who signed in there before is let through while others guess.
type cookies struct{ session, device cookie }

func cookiesFor(https bool) cookies {
	prefix := ""
	if https {
		prefix = "__Host-"
	}
	return cookies{
		session: cookie{name: prefix + "mailhelm_session", secure: https, life: people.SessionLifetime},
		device:  cookie{name: prefix + "mailhelm_device", secure: https, life: people.DeviceLifetime},
	}
}

// read returns the secret, or "" when there is none or more than one: a second
// cookie of the name was put there by somebody else.
func (c cookie) read(r *http.Request) string {
	found := r.CookiesNamed(c.name)
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

func (c cookie) set(w http.ResponseWriter, secret string) {
	http.SetCookie(w, c.with(secret, int(c.life.Seconds())))
}

func (c cookie) clear(w http.ResponseWriter) { http.SetCookie(w, c.with("", -1)) }

func (c cookie) with(value string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is off for http://localhost alone; see the type
		Name: c.name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}
