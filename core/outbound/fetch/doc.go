// Package fetch reads small documents over HTTP from addresses that an outsider named.
// All requests to such addresses go through a [Fetcher], whose [Config] states the limits.
//
// A Fetcher follows no redirect, keeps no cookie, decompresses nothing, uses no proxy of
// the environment, and opens one connection per request. It checks the address of the
// connection itself, so a name that first resolves to a public address cannot lead to a
// private one.
//
// The package limits one request. Callers limit concurrent requests with
// [outbound.Slots], and have their own rules for URLs.
package fetch
