// Package login has the pages for signing in and out and for second factors. It also
// provides the frame of every page for people: headers, stylesheet, session cookie.
//
// It owns the cookie and the texts of the pages. Package core/people has sessions,
// passwords, second factors and throttling. This package does not depend on OAuth: the
// consent page is oauth/consent, which uses this frame.
//
// The pages are rendered on the server. Only passkeys need a script. Forms are
// protected against other sites by the cookie's SameSite attribute and by
// [http.CrossOriginProtection], which checks Sec-Fetch-Site and Origin. Forms for
// consent and second factors also have a token of the session.
package login
