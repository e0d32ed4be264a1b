// Package login has the pages for signing in and out and for second factors. It also
// provides the layout, the HTTP headers, the stylesheet and the session cookie for all
// pages for people.
//
// It defines the cookies and the texts of the pages. Package core/people has sessions and
// second factors, core/passwordchange the changes of passwords, core/attempts the limits of
// attempts. This package does not depend on OAuth: the consent page, oauth/consent, uses
// this package.
//
// The pages are rendered on the server. Only passkeys need a script. Forms are protected
// against other sites by the cookie's SameSite attribute and by
// [http.CrossOriginProtection], which checks Sec-Fetch-Site and Origin. Forms for consent
// and second factors also have a token that is derived from the session.
package login
