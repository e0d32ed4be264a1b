package login

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core/people"
)

// cookie describes a browser cookie, most of which hold a secret.
//
// Over https its name has the prefix __Host-. Browsers accept such a cookie only if it is
// Secure, for the whole host and for no other host. So neither a sibling host nor an
// attacker on the network can set it (RFC 6265bis section 4.1.3.2).
//
// On http://localhost it has neither the prefix nor Secure, because Safari and programs
// that follow RFC 6265 would not send a Secure cookie back over http. Secure is not needed
// there: traffic to localhost does not leave the machine.
type cookie struct {
	name   string
	secure bool
	life   time.Duration
}

// cookies are the cookies of the pages. session holds the session's secret. device
// marks a browser in which the person signed in before. Such a browser has its own limit on
// password attempts, which attempts from elsewhere do not use up. wrote marks a browser that sent
// a form a short time ago. It is no secret.
type cookies struct{ session, device, wrote cookie }

// cookiesFor returns the cookies for pages over https, or for http://localhost if https is
// false.
func cookiesFor(https bool) cookies {
	prefix := ""
	if https {
		prefix = "__Host-"
	}
	return cookies{
		session: cookie{name: prefix + "mailhelm_session", secure: https, life: people.SessionLifetime},
		device:  cookie{name: prefix + "mailhelm_device", secure: https, life: people.DeviceLifetime},
		wrote:   cookie{name: prefix + "mailhelm_wrote", secure: https},
	}
}

// read returns the secret. It returns "" if the request has no cookie of this name, or
// several: an attacker may have set one of them.
func (c cookie) read(r *http.Request) string {
	found := r.CookiesNamed(c.name)
	if len(found) != 1 {
		return ""
	}
	return found[0].Value
}

// set stores the secret in the browser until the cookie expires.
func (c cookie) set(w http.ResponseWriter, secret string) {
	http.SetCookie(w, c.with(secret, int(c.life.Seconds())))
}

// clear deletes the cookie in the browser.
func (c cookie) clear(w http.ResponseWriter) { http.SetCookie(w, c.with("", -1)) }

func (c cookie) with(value string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is off for http://localhost alone; see the type
		Name: c.name, Value: value, Path: "/", MaxAge: maxAge,
		Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}
