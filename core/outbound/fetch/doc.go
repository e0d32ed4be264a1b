// Package fetch reads small documents over HTTP from URLs that come from outside, such as
// from a client of the OAuth server. All requests to such URLs go through a [Fetcher],
// whose [Config] has the limits.
//
// A Fetcher follows no redirect, keeps no cookie, decompresses nothing, ignores proxy
// settings of the environment, and opens one connection per request unless its Config says
// otherwise. It checks the IP address of each connection itself. So a host name that first
// resolves to a public address cannot lead to a private one.
//
// The package limits single requests. Callers limit concurrent requests with
// [outbound.Slots], and have their own rules for URLs.
package fetch
