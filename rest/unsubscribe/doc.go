// Package unsubscribe has the public pages behind the links in mail: the page that
// unsubscribes, which also answers one-click requests of mailbox providers (RFC 8058), and
// the page of preferences. Recipients open them without signing in: the signed token in the
// link is the only credential.
//
// GET and HEAD never change anything, because scanners open every link in a mail. A POST
// needs no cookie, no referrer and no script, and is never redirected.
//
// Package core/unsubscribe makes the links and records the choices. This package has the
// pages in the language of the organization (texts.json), their headers and the limits on
// attempts.
package unsubscribe
