// Package login is how a person signs in and out with a browser, sets up and
// proves second factors, and the frame of every page that is for people: headers,
// stylesheet, session cookie.
//
// It owns the cookie and what a browser is told about it; sessions, passwords,
// second factors and throttling are core/access. It does not know OAuth: the
// consent page is oauth/consent, which stands on the frame of this package.
//
// The pages are made on the server and need no script but for passkeys, which
// nothing else can ask for. A form is protected from other sites by the cookie's
// SameSite attribute and by the browser's own word on where a request comes from
// (Sec-Fetch-Site, Origin), which [http.CrossOriginProtection] reads; consent and
// second factors have a token of the session besides.
package login
